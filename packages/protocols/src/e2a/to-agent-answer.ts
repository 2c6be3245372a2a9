import { isObject, type Json, type JsonObject } from '../json.ts';
import { accept, type Outcome, reject } from '../outcome.ts';
import { show } from '../validation.ts';
import { hasReservedKey, RESERVED_METADATA_KEYS } from './reserved-keys.ts';
import type { E2AResponse } from './response.ts';

/** A response as a unary answer in the format from before E2A, which has only successes and failures. */
export function agentResponseFrom(response: E2AResponse): Outcome<JsonObject> {
  const { response_kind: kind, status, body } = response;
  if (kind === 'e2a.complete' && status === 'succeeded') {
    return accept({ ...addressOf(response), ok: true, payload: payloadOf(member(body, 'result')) });
  }
  if (kind === 'e2a.error' || status === 'failed') {
    const details = member(body, 'details');
    const message = member(body, 'message') ?? 'Agent error';
    return accept({
      ...addressOf(response),
      ok: false,
      payload:
        isObject(details) && details['error'] !== undefined ? details : { ...payloadOf(details), error: message },
    });
  }
  return reject({
    pointer: '/response_kind',
    code: 'no_legacy_form',
    message: `response_kind must be e2a.complete or e2a.error, or the status failed; got ${show(kind)}`,
  });
}

/** A response as a piece of a streamed answer in the format from before E2A. */
export function agentChunkFrom(response: E2AResponse): Outcome<JsonObject> {
  const { response_kind: kind, body, is_final: isFinal } = response;
  if ((kind === 'e2a.chunk' && isFinal) || (kind === 'e2a.complete' && !isFinal)) {
    const message = `is_final must be ${!isFinal} on ${kind}; got ${isFinal}`;
    return reject({ pointer: '/is_final', code: 'no_legacy_form', message });
  }
  const pieceOf = PIECES.get(kind);
  if (pieceOf === undefined) {
    const message = `response_kind must be one of ${[...PIECES.keys()].join(', ')}; got ${show(kind)}`;
    return reject({ pointer: '/response_kind', code: 'no_legacy_form', message });
  }
  return accept({ ...addressOf(response), ...pieceOf(body) });
}

interface Piece {
  readonly [key: string]: Json;
  readonly payload: JsonObject;
  readonly is_complete: boolean;
}

const PIECES = new Map<string, (body: JsonObject) => Piece>([
  ['e2a.chunk', (body) => ({ payload: deltaPayload(body), is_complete: false })],
  ['e2a.complete', (body) => ({ payload: finalPayload(member(body, 'result')), is_complete: true })],
  ['e2a.error', (body) => ({ payload: errorPayload(body), is_complete: true })],
  [
    'cron',
    (body) => ({
      payload: { event_type: 'cron.response', ...members(body, 'action', 'status', 'data', 'message') },
      is_complete: true,
    }),
  ],
  [
    'acp.output_request',
    (body) => ({ payload: { event_type: 'acp.output_request', jsonrpc: body }, is_complete: false }),
  ],
  [
    'plan.approval_required',
    (body) => ({
      payload: {
        event_type: 'plan.approval_required',
        ...members(body, 'plan_content', 'plan_slug', 'plan_path', 'session_id'),
      },
      is_complete: true,
    }),
  ],
]);

function deltaPayload(body: JsonObject): JsonObject {
  const delta = member(body, 'delta');
  if (member(body, 'delta_kind') === 'custom' && isObject(delta)) return delta;
  const source = member(body, 'delta_kind') === 'reasoning' ? 'llm_reasoning' : member(body, 'source_chunk_type');
  return {
    event_type: member(body, 'event_type') ?? 'chat.delta',
    content: delta ?? '',
    ...(source !== undefined && source !== null && { source_chunk_type: source }),
    ...members(body, 'role', 'member_name'),
  };
}

/** A legacy answer that ends without a result has a payload with only `is_complete`. */
function finalPayload(result: Json | undefined): JsonObject {
  const payload = payloadOf(result);
  return Object.keys(payload).length === 0 ? { is_complete: true } : payload;
}

function errorPayload(body: JsonObject): JsonObject {
  return { ...payloadOf(member(body, 'details')), event_type: 'chat.error', error: member(body, 'message') ?? '' };
}

function addressOf(response: E2AResponse): JsonObject {
  const metadata = response.metadata;
  return {
    request_id: response.request_id ?? '',
    channel_id: response.channel ?? '',
    agent_ref: response.agent_ref,
    // Members that only servers set are not forwarded.
    metadata: hasReservedKey(metadata)
      ? Object.fromEntries(Object.entries(metadata).filter(([key]) => !RESERVED_METADATA_KEYS.includes(key)))
      : metadata,
  };
}

/** Legacy payloads are objects; any other result is wrapped in one. */
function payloadOf(value: Json | undefined): JsonObject {
  if (value === undefined || value === null) return {};
  return isObject(value) ? value : { content: value };
}

function members(body: JsonObject, ...names: readonly string[]): JsonObject {
  const present = names.filter((name) => Object.hasOwn(body, name));
  return Object.fromEntries(present.map((name) => [name, member(body, name) ?? null]));
}

function member(body: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(body, name) ? body[name] : undefined;
}
