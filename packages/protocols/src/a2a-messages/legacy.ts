import { isObject, type Json, type JsonObject } from '../json.ts';
import type { Issue } from '../outcome.ts';
import { show } from '../validation.ts';
import { errorCodeForStatus } from './errors.ts';
import { EVERYBODY, REGISTRY } from './fields.ts';

// The older dialect, as in the spec's running example:
//
//   request payload   { method, params }
//   response payload  { result }                        any result
//   error payload     { error: "text", code: 404 }      an HTTP status for a code
//   recipient_id      null: any listener
//   timestamp         microseconds and no zone          (any odd time is read in lenient.ts)

/** Converts a message of the older dialect to the spec's form, with a warning for each change. */
export function readLegacy(json: Json): { readonly json: Json; readonly warnings: readonly Issue[] } {
  if (!isObject(json)) return { json, warnings: [] };
  const warnings: Issue[] = [];
  const recipient = readRecipient(json, warnings);
  const payload = readPayload(json, warnings);
  return warnings.length === 0 ? { json, warnings } : { json: { ...json, ...recipient, ...payload }, warnings };
}

function readRecipient(json: JsonObject, warnings: Issue[]): JsonObject {
  if (json['recipient_id'] !== null) return {};
  const recipient = json['message_type'] === 'discover_agents' ? REGISTRY : EVERYBODY;
  const message = `recipient_id null is read as ${show(recipient)}`;
  warnings.push({ pointer: '/recipient_id', code: 'coerced', message });
  return { recipient_id: recipient };
}

function readPayload(json: JsonObject, warnings: Issue[]): JsonObject {
  const { message_type: type, payload } = json;
  if (!isObject(payload) || typeof type !== 'string') return {};
  const read = PAYLOADS.get(type)?.(payload, warnings);
  return read === undefined ? {} : { payload: read };
}

type PayloadReader = (payload: JsonObject, warnings: Issue[]) => JsonObject | undefined;

const PAYLOADS: ReadonlyMap<string, PayloadReader> = new Map<string, PayloadReader>([
  ['request', readRequest],
  ['response', readResponse],
  ['error', readError],
]);

function readRequest(payload: JsonObject, warnings: Issue[]): JsonObject | undefined {
  if (!Object.hasOwn(payload, 'params') || Object.hasOwn(payload, 'parameters')) return undefined;
  const { params, ...rest } = payload;
  warnings.push(legacyKey('/payload/params', 'params is the old name of parameters'));
  // The older dialect writes null for "none".
  return params === null || params === undefined ? rest : { ...rest, parameters: params };
}

function readResponse(payload: JsonObject, warnings: Issue[]): JsonObject | undefined {
  const isNew = Object.hasOwn(payload, 'status') || Object.hasOwn(payload, 'data') || Object.hasOwn(payload, 'error');
  if (isNew || !Object.hasOwn(payload, 'result')) return undefined;
  const { result = null, ...rest } = payload;
  warnings.push(legacyKey('/payload/result', 'result is the old form of status "success" with data'));
  return { ...rest, status: 'success', data: isObject(result) ? result : { result } };
}

function readError(payload: JsonObject, warnings: Issue[]): JsonObject | undefined {
  const { error: text, code: status, ...rest } = payload;
  if (typeof text !== 'string') return undefined;
  const code = (typeof status === 'number' ? errorCodeForStatus(status) : undefined) ?? 'INTERNAL_ERROR';
  warnings.push(legacyKey('/payload/error', 'error as text is the old form of error {code, message}'));
  if (status !== undefined) {
    warnings.push(legacyKey('/payload/code', `code ${show(status)} is read as error.code ${show(code)}`));
  }
  return { ...rest, error: { code, message: text === '' ? code : text } };
}

function legacyKey(pointer: string, message: string): Issue {
  return { pointer, code: 'legacy_key', message };
}
