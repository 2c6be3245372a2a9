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
    method_id: { ...textOrNull, description: 'The ACP authentication method.' },
    bearer_token: { ...textOrNull, description: 'A token for the agent. Never stored.' },
    api_key_ref: { ...textOrNull, description: 'The vault credential that is sent as X-API-Key.' },
    credential_ref: { ...textOrNull, description: 'The vault credential that is sent as Authorization.' },
    extra_headers: {
      type: 'object',
      additionalProperties: { ...text, description: 'The value of the header.' },
      description: 'Further headers for the agent. Never stored.',
    },
    _meta: { ...OpaqueObject, description: 'Extensions.' },
  },
} as const;
export type E2AAuth = Static<typeof E2AAuth>;

/** An attachment, usually in `params.files` or `params.attachments` (E2A §5). */
export const E2AFileRef = {
  type: 'object',
  required: ['uri'],
  properties: {
    uri: { type: 'string', minLength: 1, description: 'Where the file is; data: for its content.' },
    name: { ...textOrNull, description: 'The file name.' },
    mime_type: { ...textOrNull, description: 'Its MIME type.' },
    size: { type: ['integer', 'null'], minimum: 0, description: 'Its size in bytes.' },
    _meta: { ...OpaqueObject, description: 'Extensions.' },
  },
} as const;
export type E2AFileRef = Static<typeof E2AFileRef>;

/** Every field of a request. The writer sends all of them (E2A §4, §9). */
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
    protocol_version: { ...text, description: 'The E2A version, "1.0".' },
    provenance: { ...E2AProvenance, description: 'The origin of the message and what converted it.' },
    request_id: { ...textOrNull, description: 'Identifies the request; the idempotency key for its caller.' },
    jsonrpc_id: { ...JsonRpcId, description: 'The id of the JSON-RPC call that the request came from.' },
    correlation_id: { ...textOrNull, description: 'A message that this one belongs to or replies to.' },
    task_id: { ...textOrNull, description: 'The A2A task.' },
    context_id: { ...textOrNull, description: 'The A2A context.' },
    session_id: { ...textOrNull, description: 'The conversation.' },
    message_id: { ...textOrNull, description: 'The id of the original message.' },
    timestamp: {
      type: ['string', 'null'],
      format: 'date-time',
      description: 'When the message was written, RFC 3339 with a zone.',
    },
    identity_origin: { enum: IDENTITY_ORIGINS, description: 'The kind of sender.' },
    channel: { ...textOrNull, description: 'Where the message comes from, for example a chat platform.' },
    user_id: { ...textOrNull, description: 'The person behind the request.' },
    source_agent_id: { ...textOrNull, description: 'The agent that sent the message.' },
    chat_id: { ...textOrNull, description: 'The chat on the channel.' },
    agent_ref: {
      ...OpaqueObjectOrNull,
      description: 'The target: an agent, "tools", "workflows" or "agents", as {"id": …}.',
    },
    agent_id: { ...textOrNull, description: 'The id of the agent that handles the request.' },
    service_id: { ...textOrNull, description: 'The service that handles the request.' },
    workspace_key: { ...textOrNull, description: 'The workspace of the agent.' },
    method: { ...textOrNull, description: 'What to do, for example chat.send or a tool name.' },
    params: { ...OpaqueObject, description: 'Arguments of the method.' },
    ext_method: { ...textOrNull, description: 'The name of an extension method, if method is ext.' },
    session_update_kind: { ...textOrNull, description: 'The ACP session update that the message stands for.' },
    is_stream: { type: 'boolean', description: 'Whether the answer is streamed.' },
    expected_output_modes: { type: 'array', items: text, description: 'MIME types that the caller accepts.' },
    auth: { ...E2AAuth, type: ['object', 'null'], description: 'Credentials for the agent, by reference.' },
    channel_context: { ...OpaqueObject, description: 'What the channel adds, for example files and history.' },
    a2a_metadata: { ...OpaqueObject, description: 'Metadata of the A2A message.' },
    acp_meta: { ...OpaqueObject, description: 'The _meta of the ACP message.' },
  },
} as const;

/** The envelope as senders may write it: every field is optional and has a default (E2A §9). */
export const E2AEnvelopeInput = {
  ...E2AEnvelopeShape,
  required: [],
  properties: {
    ...E2AEnvelopeShape.properties,
    provenance: { ...E2AEnvelopeShape.properties.provenance, required: [] },
    auth: { ...E2AEnvelopeShape.properties.auth, required: [] },
  },
} as const;

/** One request on its way to a target, from any sender and by any protocol. */
export type E2AEnvelope = Static<typeof E2AEnvelopeShape> & {
  /** Unknown top-level keys, kept beside the fields so that a relay loses nothing. */
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
