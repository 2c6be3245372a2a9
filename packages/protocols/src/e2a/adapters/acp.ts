import { isObject, type Json, type JsonObject } from '../../json.ts';
import { JSON_RPC_CODES } from '../../jsonrpc/message.ts';
import { accept, type Issue, type Outcome, reject } from '../../outcome.ts';
import { type E2AEnvelope, newEnvelope } from '../envelope.ts';
import { isAcpMethod } from '../methods.ts';
import { newProvenance } from '../provenance.ts';
import type { E2AResponse } from '../response.ts';
import { respellAcp, type Spelling } from './spelling.ts';

/** A JSON-RPC call of an ACP client, and what its endpoint knows about it. */
export interface AcpCall
  extends Partial<Pick<E2AEnvelope, 'jsonrpc_id' | 'session_id' | 'channel' | 'identity_origin'>> {
  readonly method: string;
  readonly params?: JsonObject;
  readonly converter?: string;
  /** Added to `provenance.details`, where they replace members of the same name. */
  readonly details?: JsonObject;
  /** The time of the conversion; without it, `converted_at` is null. */
  readonly now?: Date;
}

export interface AcpOptions {
  /** The spelling of ACP's field names. Default: `snake_case`, as inside E2A. ACP peers expect `camelCase`. */
  readonly spelling?: Spelling;
}

/** ACP JSON-RPC → E2A (E2A §8). The caller sets `request_id`, `timestamp` and `is_stream`. */
export function envelopeFromAcpJsonrpc(call: AcpCall): E2AEnvelope {
  const params = respellAcp(call.params ?? {}, 'snake_case');
  const jsonrpcId = call.jsonrpc_id ?? null;
  return newEnvelope({
    provenance: newProvenance({
      source_protocol: 'acp',
      converter: call.converter ?? 'dragoman',
      converted_at: call.now?.toISOString() ?? null,
      details: {
        kind: 'jsonrpc_request',
        jsonrpc_method: call.method,
        ...(jsonrpcId !== null && { jsonrpc_id: jsonrpcId }),
        ...call.details,
      },
    }),
    jsonrpc_id: jsonrpcId,
    session_id: call.session_id ?? textOrNull(params['session_id']),
    channel: call.channel ?? null,
    identity_origin: call.identity_origin ?? 'user',
    method: call.method,
    params,
  });
}

/** The ACP method an envelope stands for: `chat.send` is a prompt, `ext` has its name beside it (E2A §2, §4.4). */
export function acpMethodOf({ method, ext_method }: E2AEnvelope): string | null {
  if (method === 'ext') return ext_method === '' ? null : ext_method;
  return method === 'chat.send' ? 'session/prompt' : method;
}

/** E2A → a JSON-RPC call (E2A §8). Provenance is not changed; there is no call without a method. */
export function envelopeToAcpJsonrpcCall(envelope: E2AEnvelope, options: AcpOptions = {}): Outcome<JsonObject> {
  const method = acpMethodOf(envelope);
  if (method === null) return reject(noMethod(envelope));
  const params = mergeParamsToAcpPrompt({ ...envelope, method }, options);
  const call = { jsonrpc: '2.0', id: envelope.jsonrpc_id, method, params };
  return accept(call, methodWarnings(envelope, method));
}

/**
 * The params of a call. For `session/prompt`, `prompt`, `session_id` and `_meta` are filled in by E2A §7, the last two
 * even if `prompt` is already present; for any other method, the params are copied. The envelope is not changed.
 */
export function mergeParamsToAcpPrompt(
  envelope: E2AEnvelope,
  { spelling = 'snake_case' }: AcpOptions = {},
): JsonObject {
  const params = { ...envelope.params };
  const merged = envelope.method === 'session/prompt' ? promptParams(params, envelope) : params;
  return spelling === 'camelCase' ? respellAcp(merged, spelling) : merged;
}

function promptParams(params: JsonObject, envelope: E2AEnvelope): JsonObject {
  const prompt = Object.hasOwn(params, 'prompt') ? undefined : promptOf(params);
  const lacksSession = !Object.hasOwn(params, 'session_id') && !Object.hasOwn(params, 'sessionId');
  const meta = envelope.acp_meta;
  return {
    ...params,
    ...(prompt !== undefined && { prompt }),
    ...(envelope.session_id !== null && lacksSession && { session_id: envelope.session_id }),
    ...(Object.keys(meta).length > 0 && { _meta: { ...objectOr(params['_meta']), ...meta } }),
  };
}

/** E2A §7: the content blocks, otherwise the first non-empty string of `text`, `content` and `query`. */
function promptOf(params: JsonObject): Json | undefined {
  const blocks = params['content_blocks'];
  if (Array.isArray(blocks) && blocks.length > 0) return copyOf(blocks);
  const text = ['text', 'content', 'query'].map((key) => params[key]).find((value) => isNonEmptyText(value));
  return text === undefined ? undefined : [{ type: 'text', text }];
}

/** One frame → its JSON-RPC response, or `undefined` if it is not one (E2A §8, §12.6). */
export function e2aResponseToAcpJsonrpcResponse(
  response: E2AResponse,
  { spelling = 'snake_case' }: AcpOptions = {},
): JsonObject | undefined {
  const ready = response.projections['acp'];
  if (isReadyResponse(ready)) return Object.hasOwn(ready, 'id') ? { ...ready } : { ...ready, id: response.jsonrpc_id };
  const body = { ...response.body };
  const answer = { jsonrpc: '2.0', id: response.jsonrpc_id };
  switch (response.response_kind) {
    case 'acp.prompt_result':
      return { ...answer, result: spelling === 'camelCase' ? respellAcp(body, spelling) : body };
    case 'acp.jsonrpc_error':
      return { ...answer, error: body };
    case 'e2a.error':
      return { ...answer, error: jsonrpcErrorOf(body) };
    default:
      return undefined;
  }
}

/** The body of `e2a.error` as a JSON-RPC error: a code that is not an integer is sent in `data`. */
export function jsonrpcErrorOf(body: JsonObject): JsonObject {
  const { code, message, details, external } = body;
  const isCode = Number.isInteger(code);
  const data = {
    ...(details !== undefined && details !== null && { details }),
    ...(external !== undefined && external !== null && { external }),
    ...(!isCode && code !== undefined && code !== null && { e2a_code: code }),
  };
  return {
    code: isCode ? Number(code) : JSON_RPC_CODES.internal_error,
    message: typeof message === 'string' ? message : textOf(message),
    ...(Object.keys(data).length > 0 && { data }),
  };
}

function isReadyResponse(ready: Json | undefined): ready is JsonObject {
  if (!isObject(ready) || ready['jsonrpc'] !== '2.0') return false;
  return Object.hasOwn(ready, 'result') || Object.hasOwn(ready, 'error');
}

function noMethod({ method }: E2AEnvelope): Issue {
  if (method === 'ext') {
    const message = 'ext_method is required if method is ext, but missing';
    return { pointer: '/ext_method', code: 'required', message };
  }
  return { pointer: '/method', code: 'required', message: 'method is required in a JSON-RPC call; got null' };
}

function methodWarnings({ method: given }: E2AEnvelope, method: string): Issue[] {
  if (given !== method && given !== 'ext') {
    return [{ pointer: '/method', code: 'mapped', message: `${given} was written as ACP's ${method}` }];
  }
  if (isAcpMethod(method) || given === 'ext') return [];
  const message = `${method} is not an ACP method; other ACP peers may not support it`;
  return [{ pointer: '/method', code: 'not_acp', message }];
}

function copyOf(value: Json): Json {
  if (Array.isArray(value)) return value.map(copyOf);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, copyOf(member)]));
}

function isNonEmptyText(value: Json | undefined): value is string {
  return typeof value === 'string' && value !== '';
}

function objectOr(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

function textOrNull(value: Json | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

function textOf(value: Json | undefined): string {
  return value === undefined || value === null ? '' : JSON.stringify(value);
}
