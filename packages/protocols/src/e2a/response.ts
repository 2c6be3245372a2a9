import type { JsonObject } from '../json.ts';
import { JsonRpcId, OpaqueObject, OpaqueObjectOrNull } from '../schema.ts';
import type { Static } from '../static.ts';
import { IDENTITY_ORIGINS } from './envelope.ts';
import { E2AProvenance, newProvenance } from './provenance.ts';

const text = { type: 'string' } as const;
const textOrNull = { type: ['string', 'null'] } as const;

export const RESPONSE_STATUSES = ['succeeded', 'failed', 'in_progress'] as const;

/** The thirteen kinds in use; the spec lists ten of them. Any other is kept as it is. */
export const RESPONSE_KINDS = [
  'e2a.complete',
  'e2a.chunk',
  'e2a.error',
  'acp.session_update',
  'acp.prompt_result',
  'acp.jsonrpc_error',
  'acp.output_request',
  'a2a.task',
  'a2a.message',
  'a2a.stream_event',
  'cron',
  'plan.approval_required',
  'ext',
] as const;
export type ResponseKind = (typeof RESPONSE_KINDS)[number];

/** Every field of an answer record, as our writer sends it (E2A §12.4). */
export const E2AResponseShape = {
  type: 'object',
  // biome-ignore format: a plain list
  required: [
    'protocol_version', 'response_id', 'request_id', 'sequence', 'is_final', 'status', 'response_kind', 'timestamp',
    'provenance', 'body', 'jsonrpc_id', 'correlation_id', 'task_id', 'context_id', 'session_id', 'message_id',
    'is_stream', 'identity_origin', 'channel', 'user_id', 'agent_ref', 'source_agent_id', 'method', 'projections',
    'channel_context', 'metadata', 'a2a_metadata', 'acp_meta',
  ],
  properties: {
    protocol_version: text,
    response_id: textOrNull,
    request_id: textOrNull,
    // Keepalive frames of the reference server use -1; ours count like every other frame.
    sequence: { type: 'integer', minimum: -1, maximum: Number.MAX_SAFE_INTEGER },
    is_final: { type: 'boolean' },
    status: { enum: RESPONSE_STATUSES },
    response_kind: text,
    timestamp: { type: ['string', 'null'], format: 'date-time' },
    provenance: E2AProvenance,
    body: OpaqueObject,
    jsonrpc_id: JsonRpcId,
    correlation_id: textOrNull,
    task_id: textOrNull,
    context_id: textOrNull,
    session_id: textOrNull,
    message_id: textOrNull,
    is_stream: { type: 'boolean' },
    identity_origin: { enum: IDENTITY_ORIGINS },
    channel: textOrNull,
    user_id: textOrNull,
    agent_ref: OpaqueObjectOrNull,
    source_agent_id: textOrNull,
    method: textOrNull,
    projections: OpaqueObject,
    channel_context: OpaqueObject,
    metadata: OpaqueObject,
    a2a_metadata: OpaqueObject,
    acp_meta: OpaqueObject,
  },
} as const;

/** The same as a peer may write it: the reader fills what is missing, the writer leaves nothing out. */
export const E2AResponseInput = {
  ...E2AResponseShape,
  required: [],
  properties: { ...E2AResponseShape.properties, provenance: { ...E2AProvenance, required: [] } },
} as const;

/** One answer record ("frame") on its way back. */
export type E2AResponse = Static<typeof E2AResponseShape> & {
  /** Top-level keys we do not know, kept beside the record so that a relay loses nothing. */
  extras: JsonObject;
};

/** A response with every default of E2A §12.4 filled in. */
export function newResponse(given: Partial<E2AResponse> = {}): E2AResponse {
  return {
    protocol_version: '1.0',
    response_id: null,
    request_id: null,
    sequence: 0,
    is_final: false,
    status: 'in_progress',
    response_kind: '',
    timestamp: null,
    provenance: given.provenance ?? newProvenance(),
    body: {},
    jsonrpc_id: null,
    correlation_id: null,
    task_id: null,
    context_id: null,
    session_id: null,
    message_id: null,
    is_stream: false,
    identity_origin: 'agent',
    channel: null,
    user_id: null,
    agent_ref: null,
    source_agent_id: null,
    method: null,
    projections: {},
    channel_context: {},
    metadata: {},
    a2a_metadata: {},
    acp_meta: {},
    extras: {},
    ...given,
  };
}
