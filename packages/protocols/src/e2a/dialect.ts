import type { Dialect } from '../dialect.ts';
import { FAILURES, type Failure } from '../failure.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { accept } from '../outcome.ts';
import type { E2AEnvelope } from './envelope.ts';
import { newProvenance } from './provenance.ts';
import { decodeEnvelope, looksLikeEnvelope } from './read-envelope.ts';
import { decodeResponse, looksLikeResponse } from './read-response.ts';
import { type E2AResponse, newResponse } from './response.ts';
import { encodeEnvelope, encodeResponse } from './write.ts';

/** E2A is the hub itself: its requests are envelopes and its answers are frames, so nothing is translated here. */
export const e2aDialect: Dialect<E2AEnvelope | E2AResponse> = {
  name: 'e2a',
  recognizes(json) {
    if (!isObject(json) || !looksLikeEnvelope(json)) return false;
    return typeof json['type'] !== 'string' && !FOREIGN_MARKS.some((key) => Object.hasOwn(json, key));
  },
  decode(json, _now, options) {
    return isObject(json) && looksLikeResponse(json) ? decodeResponse(json, options) : decodeEnvelope(json, options);
  },
  encode: (message) => (isResponse(message) ? encodeResponse(message) : encodeEnvelope(message)),
  toEnvelope: (message) => (isResponse(message) ? undefined : message),
  fromEnvelope: (envelope) => accept(envelope),
  fromResponse: (response) => [response],
  fromFailure(failure, request, stamp) {
    return newResponse({
      response_id: stamp.id,
      request_id: request?.request_id ?? null,
      is_final: true,
      status: 'failed',
      response_kind: 'e2a.error',
      timestamp: stamp.now.toISOString(),
      provenance: newProvenance({ converter: 'dragoman' }),
      body: errorBodyOf(failure),
      jsonrpc_id: request?.jsonrpc_id ?? null,
      correlation_id: request?.correlation_id ?? null,
      task_id: request?.task_id ?? null,
      context_id: request?.context_id ?? null,
      session_id: request?.session_id ?? null,
      message_id: request?.message_id ?? null,
      is_stream: request?.is_stream ?? false,
      identity_origin: 'system',
      channel: request?.channel ?? null,
      method: request?.method ?? null,
    });
  },
};

export function isResponse(message: E2AEnvelope | E2AResponse): message is E2AResponse {
  return Object.hasOwn(message, 'response_kind');
}

/** A failure as the body of `e2a.error`. Its details include the fault and whether the request may be retried. */
export function errorBodyOf(failure: Failure): JsonObject {
  return {
    code: FAILURES[failure.code].e2a,
    message: failure.message,
    details: { ...jsonOf(failure.details), fault: failure.fault, retryable: failure.retryable },
  };
}

/** Details may contain any value; only JSON can be sent. */
function jsonOf(details: object): JsonObject {
  const json = JSON.parse(JSON.stringify(details)) as Json;
  return isObject(json) ? json : {};
}

const FOREIGN_MARKS = ['message_type', 'jsonrpc', 'from'];
