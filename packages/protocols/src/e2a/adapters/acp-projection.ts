import { validAcpUpdate } from '../../acp/valid-update.ts';
import { FAILURES } from '../../failure.ts';
import { isObject, type Json, type JsonObject } from '../../json.ts';
import type { E2AEnvelope } from '../envelope.ts';
import type { E2AResponse } from '../response.ts';
import { acpMethodOf, e2aResponseToAcpJsonrpcResponse, jsonrpcErrorOf } from './acp.ts';
import { acpStopReason } from './acp-stop-reason.ts';
import { acpToolCallOf } from './acp-tool-call.ts';
import { textOfResult } from './result-text.ts';
import { respellAcp } from './spelling.ts';

/**
 * The JSON-RPC messages that an ACP client gets for one frame, in order and in ACP's own spelling: updates before the
 * end, the response for the final frame. Empty for a frame that ACP cannot express.
 */
export function acpMessagesFor(response: E2AResponse, request: E2AEnvelope): JsonObject[] {
  const updates = updatesOf(response, request).map((update) => notification(update, sessionOf(response, request)));
  if (response.response_kind === 'acp.output_request') {
    const { question: _, ...call } = response.body;
    if (typeof call['method'] !== 'string') return [];
    return [{ jsonrpc: '2.0', ...respellAcp(call, 'camelCase') }];
  }
  const answer = answerOf(response, request);
  return answer === undefined ? updates : [...updates, answer];
}

/** The updates that a frame becomes. */
function updatesOf(response: E2AResponse, request: E2AEnvelope): JsonObject[] {
  const body = response.body;
  switch (response.response_kind) {
    case 'e2a.chunk':
      return updateOfChunk(body, response);
    case 'acp.session_update':
      return isObject(body['update']) ? validAcpUpdates(respellAcp(body['update'], 'camelCase')) : [];
    case 'e2a.complete': {
      // Text of an answer in one frame is sent as a chunk: there was none before, and a prompt's result has no place
      // for text.
      const text = isPrompt(request) && response.sequence === 0 ? textOfResult(body['result']) : undefined;
      return text === undefined ? [] : [messageChunk('agent_message_chunk', text)];
    }
    default:
      return [];
  }
}

function validAcpUpdates(update: JsonObject): JsonObject[] {
  const valid = validAcpUpdate(update);
  return valid === undefined ? [] : [valid];
}

function updateOfChunk(body: JsonObject, response: E2AResponse): JsonObject[] {
  const { delta_kind: kind, delta } = body;
  if (kind === 'tool') return [toolUpdate(delta, response)];
  const text = typeof delta === 'string' ? delta : textOfResult(delta);
  if (text === undefined || (kind !== 'text' && kind !== 'reasoning')) return [];
  return [messageChunk(kind === 'reasoning' ? 'agent_thought_chunk' : 'agent_message_chunk', text)];
}

/** Announced calls are not remembered here: a call with neither a status nor a result is treated as a new one. */
function toolUpdate(delta: Json | undefined, response: E2AResponse): JsonObject {
  const { status, ...call } = acpToolCallOf(delta, response.response_id ?? '');
  return {
    sessionUpdate: status === undefined ? 'tool_call' : 'tool_call_update',
    ...call,
    status: status ?? 'pending',
  };
}

/** The response to the client's call; `undefined` before the final frame and for a call without an id. */
function answerOf(response: E2AResponse, request: E2AEnvelope): JsonObject | undefined {
  const id = response.jsonrpc_id ?? request.jsonrpc_id;
  if (id === null || !response.is_final) return undefined;
  if (response.response_kind === 'acp.prompt_result') {
    return { jsonrpc: '2.0', id, result: resultOf(response.body, request) };
  }
  const ready = e2aResponseToAcpJsonrpcResponse({ ...response, jsonrpc_id: id }, { spelling: 'camelCase' });
  if (ready !== undefined && response.response_kind !== 'e2a.error' && isAnswer(ready)) return ready;
  const body = response.body;
  const isError = response.response_kind === 'e2a.error' || response.response_kind === 'acp.jsonrpc_error';
  if (isError || response.status === 'failed') return failureOf(body, id, request);
  return { jsonrpc: '2.0', id, result: resultOf(body['result'], request) };
}

/** Whether a response is valid: an error needs a code and a message. */
function isAnswer({ error }: JsonObject): boolean {
  return (
    error === undefined || (isObject(error) && Number.isInteger(error['code']) && typeof error['message'] === 'string')
  );
}

/** The result of a prompt is its stop reason; that of any other call is the agent's own. */
function resultOf(result: Json | undefined, request: E2AEnvelope): Json {
  const members = isObject(result) ? respellAcp(result, 'camelCase') : {};
  if (!isPrompt(request)) return isObject(result) ? members : (result ?? null);
  const { stopReason, usage, _meta } = members;
  return {
    stopReason: acpStopReason(stopReason),
    ...(isObject(usage) && { usage }),
    ...(isObject(_meta) && { _meta }),
  };
}

/** ACP answers a cancelled prompt with a reason, not with an error. */
function failureOf(body: JsonObject, id: string | number, request: E2AEnvelope): JsonObject {
  const code = body['code'];
  if (code === FAILURES.cancelled.e2a && isPrompt(request)) {
    return { jsonrpc: '2.0', id, result: { stopReason: 'cancelled' } };
  }
  const error = jsonrpcErrorOf(body);
  const known = typeof code === 'string' ? JSON_RPC_OF.get(code) : undefined;
  return { jsonrpc: '2.0', id, error: known === undefined ? error : { ...error, code: known } };
}

function isPrompt(request: E2AEnvelope): boolean {
  return acpMethodOf(request) === 'session/prompt';
}

function sessionOf(response: E2AResponse, request: E2AEnvelope): string {
  const given = firstOf(response.body, 'sessionId', 'session_id');
  return typeof given === 'string' ? given : (response.session_id ?? request.session_id ?? '');
}

function notification(update: JsonObject, sessionId: string): JsonObject {
  return { jsonrpc: '2.0', method: 'session/update', params: { sessionId, update } };
}

function messageChunk(sessionUpdate: string, text: string): JsonObject {
  return { sessionUpdate, content: { type: 'text', text } };
}

function firstOf(holder: JsonObject, ...names: readonly string[]): Json | undefined {
  return names.map((name) => holder[name]).find((value) => value !== undefined && value !== null);
}

// Several of our codes share one E2A code; the first row with it decides.
const JSON_RPC_OF: ReadonlyMap<string, number> = new Map(
  Object.values(FAILURES)
    .reverse()
    .map(({ e2a, jsonrpc }) => [e2a, jsonrpc]),
);
