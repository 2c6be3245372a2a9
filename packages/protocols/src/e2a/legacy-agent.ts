import { isObject, type Json, type JsonObject } from '../json.ts';
import { pointerTo } from '../pointer.ts';
import type { Notes } from './read-record.ts';
import type { E2AResponse } from './response.ts';

/** The fields of a response that the content of a legacy answer decides. */
export type AgentAnswer = Pick<E2AResponse, 'response_kind' | 'status' | 'is_final' | 'body'>;

/** Whether the object is a unary answer in the format from before E2A. */
export function isAgentResponse(json: JsonObject): boolean {
  return !Object.hasOwn(json, 'response_kind') && has(json, 'request_id', 'channel_id', 'ok');
}

/** Whether the object is a piece of a streamed answer in the format from before E2A. */
export function isAgentChunk(json: JsonObject): boolean {
  if (Object.hasOwn(json, 'response_kind') || Object.hasOwn(json, 'ok')) return false;
  return has(json, 'request_id', 'channel_id', 'is_complete', 'payload');
}

/** Keys of the two shapes that are not fields of a response. */
export const AGENT_ANSWER_KEYS = ['ok', 'payload', 'is_complete'] as const;

export function answerOfAgentResponse(legacy: JsonObject, pointer: string, notes: Notes): AgentAnswer | undefined {
  const ok = legacy['ok'] ?? true;
  const payload = payloadOf(legacy, pointer, notes);
  if (typeof ok !== 'boolean') {
    notes.refuseType(pointerTo(pointer, 'ok'), 'a boolean', ok);
    return undefined;
  }
  if (payload === undefined) return undefined;
  if (ok) return succeeded(payload);
  const message = textOf(payload['error']) ?? textOf(payload['message']) ?? 'Agent error';
  return failed('E2A.AGENT_ERROR', message, payload);
}

export function answerOfAgentChunk(legacy: JsonObject, pointer: string, notes: Notes): AgentAnswer | undefined {
  const isComplete = legacy['is_complete'] ?? false;
  const payload = payloadOf(legacy, pointer, notes);
  if (typeof isComplete !== 'boolean') {
    notes.refuseType(pointerTo(pointer, 'is_complete'), 'a boolean', isComplete);
    return undefined;
  }
  if (payload === undefined) return undefined;
  const eventType = payload['event_type'] ?? null;
  if (!isComplete) return pieceOf(payload, eventType);
  if (payload['is_complete'] === true && Object.keys(payload).length === 1) return succeeded({});
  if (eventType === 'chat.error') return failed('chat.error', textOf(payload['error']) ?? 'Agent error', payload);
  return succeeded(payload);
}

function pieceOf(payload: JsonObject, eventType: Json): AgentAnswer {
  if (eventType !== 'chat.delta') return chunk({ delta_kind: 'custom', delta: payload, ...eventOf(eventType) });
  const source = textOf(payload['source_chunk_type']);
  return chunk({
    delta_kind: source === 'llm_reasoning' ? 'reasoning' : 'text',
    delta: textOf(payload['content']) ?? '',
    event_type: eventType,
    source_chunk_type: source ?? null,
    ...named(payload, 'role'),
    ...named(payload, 'member_name'),
  });
}

function succeeded(result: JsonObject): AgentAnswer {
  return { response_kind: 'e2a.complete', status: 'succeeded', is_final: true, body: { result } };
}

function failed(code: string, message: string, details: JsonObject): AgentAnswer {
  return { response_kind: 'e2a.error', status: 'failed', is_final: true, body: { code, message, details } };
}

function chunk(body: JsonObject): AgentAnswer {
  return { response_kind: 'e2a.chunk', status: 'in_progress', is_final: false, body };
}

function payloadOf(legacy: JsonObject, pointer: string, notes: Notes): JsonObject | undefined {
  const payload = legacy['payload'] ?? {};
  if (isObject(payload)) return payload;
  notes.refuseType(pointerTo(pointer, 'payload'), 'an object or null', payload);
  return undefined;
}

function eventOf(eventType: Json): JsonObject {
  return typeof eventType === 'string' ? { event_type: eventType } : {};
}

function named(payload: JsonObject, key: 'role' | 'member_name'): JsonObject {
  const value = payload[key];
  return typeof value === 'string' ? { [key]: value } : {};
}

/** A value as a message for people: text unchanged, other values as JSON; `undefined` for null. */
function textOf(value: Json | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function has(json: JsonObject, ...keys: readonly string[]): boolean {
  return keys.every((key) => Object.hasOwn(json, key));
}
