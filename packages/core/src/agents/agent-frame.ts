import {
  decodeResponse,
  type E2AResponse,
  type Issue,
  isObject,
  type Json,
  type JsonObject,
  type Outcome,
  type RESPONSE_KINDS,
  reject,
} from '@dragoman/protocols';

/** A frame as the agent wrote it; a missing `is_final` follows from its kind. */
export function readAgentFrame(json: Json): Outcome<E2AResponse> {
  const decoded = decodeResponse(json);
  if (!decoded.ok || !isObject(json)) return decoded;
  const { response_kind: kind } = decoded.value;
  if (kind === '') return reject(NO_KIND);
  const isFinal = decoded.value.is_final || (!hasMember(json, 'is_final') && FINAL_KINDS.has(kind));
  // E2A §12.2: after the last frame nothing is in progress, so its status must not be `in_progress`.
  const status = isFinal && decoded.value.status === 'in_progress' ? statusOf(kind) : decoded.value.status;
  return { ...decoded, value: { ...decoded.value, is_final: isFinal, status } };
}

/**
 * The members of an agent's frame that are passed on to the caller. The server sets ids, sequence and timestamp, and the identity
 * (`source_agent_id`, `identity_origin`), which an agent cannot claim.
 */
export function keptOf(json: Json, frame: E2AResponse): Partial<E2AResponse> {
  return {
    response_kind: frame.response_kind,
    is_final: frame.is_final,
    status: frame.status,
    body: frame.body,
    projections: frame.projections,
    task_id: frame.task_id,
    context_id: frame.context_id,
    message_id: frame.message_id,
    channel_context: frame.channel_context,
    metadata: frame.metadata,
    a2a_metadata: frame.a2a_metadata,
    acp_meta: frame.acp_meta,
    extras: frame.extras,
    ...(isObject(json) && hasMember(json, 'provenance') && { provenance: frame.provenance }),
  };
}

/** Whether the writer of the frame gave this member a value. */
export function hasMember(json: JsonObject, member: string): boolean {
  return Object.hasOwn(json, member) && json[member] !== null;
}

export function frameTooLarge(limit: number): Issue {
  return {
    pointer: '',
    code: 'frame_too_large',
    message: `expected at most ${limit} bytes in a frame; got more`,
    suggestion: 'send the answer in several frames',
  };
}

function statusOf(kind: string): E2AResponse['status'] {
  return kind === 'e2a.error' || kind === 'acp.jsonrpc_error' ? 'failed' : 'succeeded';
}

/** The limit on one frame, for every driver. A larger frame ends the request that it answers. */
export const MAX_FRAME_BYTES = 8 * 1024 * 1024;

/**
 * Where requests share a connection, a frame past the limit is read to its end, so that the other requests continue. A frame of
 * this many times the limit ends the connection.
 */
export const READ_PAST_LIMIT = 8;

/** How much of the beginning of an unreadable frame is searched for the id of its request. */
export const EXCERPT_LENGTH = 1024;

/** Kinds that end an answer by themselves. */
const FINAL_KINDS: ReadonlySet<string> = new Set<(typeof RESPONSE_KINDS)[number]>([
  'e2a.complete',
  'e2a.error',
  'acp.prompt_result',
  'acp.jsonrpc_error',
]);

const NO_KIND = {
  pointer: '/response_kind',
  code: 'required',
  message: 'response_kind is required in a frame but missing',
  suggestion: 'send e2a.chunk, e2a.complete or e2a.error',
} as const;
