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

/** Every field of an answer record. The writer sends all of them (E2A §12.4). */
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
    protocol_version: { ...text, description: 'The E2A version, "1.0".' },
    response_id: { ...textOrNull, description: 'Identifies the frame.' },
    request_id: { ...textOrNull, description: 'The request that this frame answers.' },
    // Keepalive frames of the reference server use -1; ours count like every other frame.
    sequence: {
      type: 'integer',
      minimum: -1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'The position of the frame in the stream, from 0; -1 marks a keepalive.',
    },
    is_final: { type: 'boolean', description: 'Whether this is the last frame.' },
    status: { enum: RESPONSE_STATUSES, description: 'The state of the request after this frame.' },
    response_kind: { ...text, description: 'What body contains, for example e2a.chunk, e2a.complete or e2a.error.' },
    timestamp: {
      type: ['string', 'null'],
      format: 'date-time',
      description: 'When the frame was made, RFC 3339 with a zone.',
    },
    provenance: { ...E2AProvenance, description: 'Where the frame came from and what converted it.' },
    body: { ...OpaqueObject, description: 'The content, shaped by response_kind.' },
    jsonrpc_id: { ...JsonRpcId, description: 'The id of the JSON-RPC call that the request came from.' },
    correlation_id: { ...textOrNull, description: 'A message that this one belongs to or replies to.' },
    task_id: { ...textOrNull, description: 'The A2A task.' },
    context_id: { ...textOrNull, description: 'The A2A context.' },
    session_id: { ...textOrNull, description: 'The conversation.' },
    message_id: { ...textOrNull, description: 'The message_id of the request.' },
    is_stream: { type: 'boolean', description: 'Whether the answer is streamed.' },
    identity_origin: { enum: IDENTITY_ORIGINS, description: 'The kind of sender.' },
    channel: { ...textOrNull, description: 'The channel of the request.' },
    user_id: { ...textOrNull, description: 'The person behind the request.' },
    agent_ref: { ...OpaqueObjectOrNull, description: 'The target of the request.' },
    source_agent_id: { ...textOrNull, description: 'The source_agent_id of the request, or the agent that answers.' },
    method: { ...textOrNull, description: 'The method of the request.' },
    projections: { ...OpaqueObject, description: 'The frame as other protocols write it.' },
    channel_context: { ...OpaqueObject, description: 'What the channel adds, for example files and history.' },
    metadata: { ...OpaqueObject, description: 'Further data about the frame.' },
    a2a_metadata: { ...OpaqueObject, description: 'Metadata of the A2A message.' },
    acp_meta: { ...OpaqueObject, description: 'The _meta of the ACP message.' },
  },
} as const;

/** The record as peers may write it: every field is optional, and the reader fills in the defaults. */
export const E2AResponseInput = {
  ...E2AResponseShape,
  required: [],
  properties: {
    ...E2AResponseShape.properties,
    provenance: { ...E2AResponseShape.properties.provenance, required: [] },
  },
} as const;

/** One answer record ("frame") on its way back. */
export type E2AResponse = Static<typeof E2AResponseShape> & {
  /** Unknown top-level keys, kept beside the fields so that a relay loses nothing. */
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
