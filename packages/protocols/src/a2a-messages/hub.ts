import type { Stamp } from '../dialect.ts';
import { type E2AEnvelope, newEnvelope } from '../e2a/envelope.ts';
import { errorIn } from '../e2a/error-in.ts';
import { newProvenance } from '../e2a/provenance.ts';
import type { E2AResponse } from '../e2a/response.ts';
import { FAILURES, type Failure } from '../failure.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { valueAt } from '../pointer.ts';
import { parseTimestamp } from '../time.ts';
import { fittingAgentId, isAgentId } from './agent-id.ts';
import { errorCodeFrom } from './error-code.ts';
import { EVERYBODY } from './fields.ts';
import type { A2AMessage, ErrorMessage, ResponseMessage } from './message.ts';
import { derivedMessageId, isMessageId, messageIdFrom } from './message-id.ts';
import type { ErrorMessagePayload, ErrorPayload, ResponsePayload } from './payloads.ts';

/** The envelope of a request. Every other type concerns the connection or the registry, or is an answer. */
export function toEnvelope(message: A2AMessage): E2AEnvelope | undefined {
  if (message.message_type !== 'request') return undefined;
  return newEnvelope({
    provenance: newProvenance({
      source_protocol: 'a2a-messages',
      converter: 'dragoman',
      details: { kind: message.message_type },
    }),
    request_id: message.message_id,
    message_id: message.message_id,
    timestamp: message.timestamp,
    identity_origin: 'agent',
    source_agent_id: message.sender_id,
    agent_ref: { id: message.recipient_id },
    method: message.payload.method,
    params: message.payload.parameters ?? {},
  });
}

/** The complete answer as one message; empty for other frames, because A2A has no message for a part of an answer. */
export function fromResponse(response: E2AResponse, request: E2AEnvelope): readonly ResponseMessage[] {
  const payload = responsePayload(response);
  const answered = messageIdOf(request);
  if (payload === undefined || answered === undefined) return [];
  const time = timeOf(response.timestamp) ?? timeOf(request.timestamp) ?? 0;
  const id = response.response_id ?? `${response.request_id ?? answered}#${response.sequence}`;
  return [
    {
      message_id: isMessageId(id) ? id : derivedMessageId(id),
      message_type: 'response',
      sender_id: answererOf(request, response.source_agent_id),
      recipient_id: askerOf(request),
      timestamp: new Date(time).toISOString(),
      payload,
      correlation_id: answered,
    },
  ];
}

/** The failure as an `error` message; `undefined` without a request to answer. */
export function fromFailure(
  failure: Failure,
  request: E2AEnvelope | undefined,
  stamp: Stamp,
): ErrorMessage | undefined {
  const answered = request && messageIdOf(request);
  if (request === undefined || answered === undefined) return undefined;
  return {
    message_id: messageIdFrom(stamp.id),
    message_type: 'error',
    sender_id: answererOf(request, null),
    recipient_id: askerOf(request),
    timestamp: stamp.now.toISOString(),
    payload: { error: errorFrom(failure) },
    correlation_id: answered,
  };
}

/** A failure in A2A's terms. Senders that fail authentication receive no details. */
export function errorFrom(failure: Failure): ErrorMessagePayload['error'] {
  const row = FAILURES[failure.code];
  const isSecurity = row.a2a === 'AUTHENTICATION_FAILED';
  const { retry_after: wait, ...details } = failure.details;
  return {
    code: row.a2a,
    message: shortened(isSecurity || failure.message === '' ? row.text : failure.message),
    // Failure details are plain data.
    ...(!isSecurity && Object.keys(details).length > 0 && { details: details as JsonObject }),
    ...(wait !== undefined && Number.isFinite(wait) && { retry_after: Math.max(0, Math.ceil(wait)) }),
  };
}

/** The A2A id of an envelope: its own if that is a version 4 UUID, otherwise one derived from it. */
export function messageIdOf(envelope: E2AEnvelope): string | undefined {
  const { request_id: request, message_id: message, jsonrpc_id: call } = envelope;
  if (isMessageId(request)) return request;
  if (isMessageId(message)) return message;
  const id = request ?? message ?? call;
  return id === null ? undefined : derivedMessageId(String(id));
}

/** A time in epoch milliseconds; `undefined` if it is null or invalid. */
export function timeOf(text: string | null): number | undefined {
  return text === null ? undefined : parseTimestamp(text);
}

/** The name of an envelope's target, in `agent_ref` or `agent_id`. */
export function namedTarget(envelope: E2AEnvelope): string | undefined {
  const id = valueAt(envelope.agent_ref, '/id') ?? envelope.agent_id;
  return typeof id === 'string' && id !== '' ? id : undefined;
}

function responsePayload({
  response_kind: kind,
  status,
  is_final: isFinal,
  body,
}: E2AResponse): ResponsePayload | undefined {
  if (kind === 'e2a.error' || kind === 'acp.jsonrpc_error' || (isFinal && status === 'failed'))
    return errorPayload(body);
  if (kind === 'e2a.complete') return { status: 'success', data: resultIn(valueAt(body, '/result')) };
  // The final frame of another protocol, such as an ACP prompt result, is the answer too.
  return isFinal ? { status: 'success', data: body } : undefined;
}

/** `data` is an object; any other result is wrapped, and a missing result means no data. */
function resultIn(result: Json | undefined): JsonObject {
  if (result === undefined) return {};
  return isObject(result) ? result : { result };
}

function errorPayload(body: E2AResponse['body']): ErrorPayload {
  const message = valueAt(body, '/message');
  const details = valueAt(body, '/details') ?? valueAt(body, '/data');
  const { retryAfter } = errorIn(body);
  const url = valueAt(body, '/documentation_url');
  return {
    status: 'error',
    error: {
      code: errorCodeFrom(valueAt(body, '/code')),
      message: typeof message === 'string' && message !== '' ? message : FAILURES.agent_failed.text,
      ...(details !== undefined && details !== null && { details: isObject(details) ? details : { details } }),
      ...(retryAfter !== undefined && retryAfter >= 0 && { retry_after: Math.ceil(retryAfter) }),
      ...(typeof url === 'string' && { documentation_url: url }),
    },
  };
}

/** The sender of the answer: the request's recipient, unless that was `*`. */
export function answererOf(request: E2AEnvelope, named: string | null): string {
  const target = namedTarget(request);
  if (isAgentId(target)) return target;
  if (isAgentId(named)) return named;
  return target === undefined || target === EVERYBODY ? DRAGOMAN : fittingAgentId(target);
}

export function askerOf(request: E2AEnvelope): string {
  const asker = request.source_agent_id;
  if (asker === null || asker === '') return DRAGOMAN;
  return isAgentId(asker) ? asker : fittingAgentId(asker);
}

/** At most 500 characters, without splitting one. */
function shortened(text: string): string {
  const characters = [...text.slice(0, 2 * LONGEST_MESSAGE)];
  if (characters.length <= LONGEST_MESSAGE && text.length <= 2 * LONGEST_MESSAGE) return text;
  return `${characters.slice(0, LONGEST_MESSAGE - 1).join('')}…`;
}

/** The agent id that we use if a request or an answer names none. */
export const DRAGOMAN = 'dragoman';
const LONGEST_MESSAGE = 500;
