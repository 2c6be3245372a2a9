import type { JsonObject } from '../json.ts';
import { JsonRpcId, OpaqueObject, OpaqueObjectOrNull } from '../schema.ts';
import type { Static } from '../static.ts';
import { E2AProvenance, newProvenance } from './provenance.ts';

const text = { type: 'string' } as const;
const textOrNull = { type: ['string', 'null'] } as const;

export const IDENTITY_ORIGINS = ['system', 'user', 'agent', 'service'] as const;
export type IdentityOrigin = (typeof IDENTITY_ORIGINS)[number];

/** Credentials by reference; `bearer_token` and `extra_headers` are the two that carry secrets (E2A §5, §13). */
export const E2AAuth = {
  type: 'object',
  required: ['method_id', 'bearer_token', 'api_key_ref', 'credential_ref', 'extra_headers', '_meta'],
  properties: {
    method_id: textOrNull,
    bearer_token: textOrNull,
    api_key_ref: textOrNull,
    credential_ref: textOrNull,
    extra_headers: { type: 'object', additionalProperties: text },
    _meta: OpaqueObject,
  },
} as const;
export type E2AAuth = Static<typeof E2AAuth>;

/** An attachment, usually in `params.files` or `params.attachments` (E2A §5). */
export const E2AFileRef = {
  type: 'object',
  required: ['uri'],
  properties: {
    uri: { type: 'string', minLength: 1 },
    name: textOrNull,
    mime_type: textOrNull,
    size: { type: ['integer', 'null'], minimum: 0 },
    _meta: OpaqueObject,
  },
} as const;
export type E2AFileRef = Static<typeof E2AFileRef>;

/** Every field of a request, as our writer sends it: nothing is left out (E2A §4, §9). */
export const E2AEnvelopeShape = {
  type: 'object',
  // biome-ignore format: a plain list
  required: [
    'protocol_version', 'provenance', 'request_id', 'jsonrpc_id', 'correlation_id', 'task_id', 'context_id',
    'session_id', 'message_id', 'timestamp', 'identity_origin', 'channel', 'user_id', 'source_agent_id', 'chat_id',
    'agent_ref', 'agent_id', 'service_id', 'workspace_key', 'method', 'params', 'ext_method', 'session_update_kind',
    'is_stream', 'expected_output_modes', 'auth', 'channel_context', 'a2a_metadata', 'acp_meta',
  ],
  properties: {
    protocol_version: text,
    provenance: E2AProvenance,
    request_id: textOrNull,
    jsonrpc_id: JsonRpcId,
    correlation_id: textOrNull,
    task_id: textOrNull,
    context_id: textOrNull,
    session_id: textOrNull,
    message_id: textOrNull,
    timestamp: { type: ['string', 'null'], format: 'date-time' },
    identity_origin: { enum: IDENTITY_ORIGINS },
    channel: textOrNull,
    user_id: textOrNull,
    source_agent_id: textOrNull,
    chat_id: textOrNull,
    agent_ref: OpaqueObjectOrNull,
    agent_id: textOrNull,
    service_id: textOrNull,
    workspace_key: textOrNull,
    method: textOrNull,
    params: OpaqueObject,
    ext_method: textOrNull,
    session_update_kind: textOrNull,
    is_stream: { type: 'boolean' },
    expected_output_modes: { type: 'array', items: text },
    auth: { ...E2AAuth, type: ['object', 'null'] },
    channel_context: OpaqueObject,
    a2a_metadata: OpaqueObject,
    acp_meta: OpaqueObject,
  },
} as const;

/** The same as a sender may write it: every field has a default (E2A §9). */
export const E2AEnvelopeInput = {
  ...E2AEnvelopeShape,
  required: [],
  properties: {
    ...E2AEnvelopeShape.properties,
    provenance: { ...E2AProvenance, required: [] },
    auth: { ...E2AAuth, type: ['object', 'null'], required: [] },
  },
} as const;

/** One request on its way to an agent, whoever sent it and by whatever protocol. */
export type E2AEnvelope = Static<typeof E2AEnvelopeShape> & {
  /** Top-level keys we do not know, kept beside the envelope so that a relay loses nothing. */
  extras: JsonObject;
};

/** An envelope with every default of E2A §4 filled in. */
export function newEnvelope(given: Partial<E2AEnvelope> = {}): E2AEnvelope {
  return {
    protocol_version: '1.0',
    provenance: given.provenance ?? newProvenance(),
    request_id: null,
    jsonrpc_id: null,
    correlation_id: null,
    task_id: null,
    context_id: null,
    session_id: null,
    message_id: null,
    timestamp: null,
    identity_origin: 'user',
    channel: null,
    user_id: null,
    source_agent_id: null,
    chat_id: null,
    agent_ref: null,
    agent_id: null,
    service_id: null,
    workspace_key: null,
    method: null,
    params: {},
    ext_method: null,
    session_update_kind: null,
    is_stream: false,
    expected_output_modes: [],
    auth: null,
    channel_context: {},
    a2a_metadata: {},
    acp_meta: {},
    extras: {},
    ...given,
  };
}

export function newAuth(given: Partial<E2AAuth> = {}): E2AAuth {
  return {
    method_id: null,
    bearer_token: null,
    api_key_ref: null,
    credential_ref: null,
    extra_headers: {},
    _meta: {},
    ...given,
  };
}
