import type { E2AEnvelope } from '../e2a/envelope.ts';
import { errorIn } from '../e2a/error-in.ts';
import type { E2AResponse } from '../e2a/response.ts';
import { FAILURES } from '../failure.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { parseTimestamp } from '../time.ts';
import { decodeWire } from './decode.ts';
import { isWireErrorCode, WIRE_ERRORS, type WireErrorCode } from './errors.ts';
import { newError, withFields } from './new-message.ts';
import { requestRowOf } from './request-row.ts';
import { stableId } from './stable-id.ts';
import { type KnownType, lookup, type WireMessage } from './type-map.ts';

/** One frame of an answer as an event, a response or an error. */
export function wireFromResponse(response: E2AResponse, request: E2AEnvelope): readonly WireMessage[] {
  const frame: Frame = {
    response,
    request,
    row: requestRowOf(request),
    reqId: request.request_id ?? response.request_id ?? '',
    stamp: { id: stableId(response), now: timeOf(response, request) },
  };
  if (response.status === 'failed' || response.response_kind === 'e2a.error') return [errorOf(frame)];
  if (response.is_final) return [answerOf(frame)];
  // A keepalive of the reference server: this wire has its own pings.
  return response.sequence < 0 ? [] : [eventOf(frame)];
}

interface Frame {
  readonly response: E2AResponse;
  readonly request: E2AEnvelope;
  readonly row: KnownType;
  readonly reqId: string;
  readonly stamp: { readonly id: string; readonly now: Date };
}

/**
 * Reasoning is a log line, and every other chunk a status with the delta beside the message: an artifact would carry
 * text as base64, which people cannot read.
 */
function eventOf({ response, row, reqId, stamp }: Frame): WireMessage {
  const { delta_kind = 'custom', delta = null } = response.body;
  const head = { req_id: reqId, seq: response.sequence };
  const send = (kind: string, data: JsonObject) =>
    withFields(row.events ?? 'invoke/event', { ...head, kind, data }, stamp);
  if (delta_kind === 'reasoning' && typeof delta === 'string') return send('log', { level: 'debug', message: delta });
  if (response.response_kind === 'e2a.chunk') return send('status', { message: '', delta_kind, delta });
  return send('status', { message: '', response_kind: response.response_kind, body: response.body });
}

/** The answer of the request's type, or an error when the result does not fit it. */
function answerOf({ response, request, row, reqId, stamp }: Frame): WireMessage {
  const result = Object.hasOwn(response.body, 'result') ? (response.body['result'] as Json) : response.body;
  const type = row.answer ?? 'error';
  const fields = (RESULTS[row.type] ?? fieldsOf)(result, { request, answer: lookup(type), at: stamp.now });
  const answer = withFields(type, { ...fields, req_id: reqId }, stamp);
  const outcome = decodeWire(answer as JsonObject, stamp.now);
  if (outcome.ok) return answer;
  const message = `the result cannot be sent as ${type}`;
  return newError({ code: 'internal_error', reqId, message, issues: outcome.issues, about: row.type }, stamp);
}

interface ResultContext {
  readonly request: E2AEnvelope;
  readonly answer: KnownType | undefined;
  readonly at: Date;
}

/** Types whose answer wraps the result; for others, the members of the result are the fields of the answer. */
const RESULTS: Readonly<Record<string, (result: Json, context: ResultContext) => JsonObject>> = {
  'tool/call/req': (result, { request, at }) => ({
    data: { success: true, tool_name: request.method ?? '', data: result },
    created_at: at.getTime() / 1000,
  }),
  'skill/call/req': (result, { request, at }) => ({
    name: request.method ?? '',
    data: { success: true, data: result },
    created_at: at.getTime() / 1000,
  }),
  'chain/req': (result) =>
    isObject(result) && Object.hasOwn(result, 'success') ? result : { success: true, final_output: result },
};

/** The members of the result. A success flag defaults to true. */
function fieldsOf(result: Json, { answer }: ResultContext): JsonObject {
  const properties = (answer?.schema['properties'] ?? {}) as JsonObject;
  const flags = ['ok', 'success'].filter((flag) => Object.hasOwn(properties, flag)).map((flag) => [flag, true]);
  return { ...Object.fromEntries(flags), ...(isObject(result) ? result : { result }) };
}

function errorOf({ response, row, reqId, stamp }: Frame): WireMessage {
  const { code, message, details } = response.body;
  const given = typeof code === 'string' ? code : '';
  const wire = wireCodeOf(given, row);
  const fields = {
    req_id: reqId,
    code: wire,
    message: typeof message === 'string' ? message : WIRE_ERRORS[wire].meaning,
    detail: { ...(isObject(details) ? details : {}), ...(given !== '' && { e2a_code: given }) },
    retryable: errorIn(response.body).retryable ?? WIRE_ERRORS[wire].retryable,
    capability_name: row.capability ?? '',
  };
  return withFields('error', fields, stamp);
}

function wireCodeOf(code: string, row: KnownType): WireErrorCode {
  if (isWireErrorCode(code)) return code;
  return WIRE_CODES.get(code) ?? FALLBACKS[row.type] ?? 'runtime_error';
}

function timeOf(response: E2AResponse, request: E2AEnvelope): Date {
  return new Date(parseTimestamp(response.timestamp ?? '') ?? parseTimestamp(request.timestamp ?? '') ?? 0);
}

/** The code for an agent's error with an unknown code, by the type of the request. */
const FALLBACKS: Readonly<Record<string, WireErrorCode>> = {
  'tool/call/req': 'tool_error',
  'skill/call/req': 'skill_error',
  'chain/req': 'chain_error',
};

// If several failures share an E2A code, the first decides the wire code. `unknown_method` is first, because on this
// wire an unknown method is an unknown tool.
const rows = [FAILURES.unknown_method, ...Object.values(FAILURES)].reverse();
const WIRE_CODES: ReadonlyMap<string, WireErrorCode> = new Map(rows.map(({ e2a, wire }) => [e2a, wire]));
