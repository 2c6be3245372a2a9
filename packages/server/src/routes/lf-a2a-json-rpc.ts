import { type Clock, failureOf } from '@dragoman/core';
import { decodeJsonRpc, type Failure, failure, isObject, type Json, type JsonObject } from '@dragoman/protocols';
import { type A2aError, a2aErrorOf, operationOf } from '@dragoman/protocols/lf-a2a';
import type { Answer, InboundRequest, Route } from '../http/route.ts';
import { A2A_VERSION, eventStream, taskErrorOf, versionError } from './lf-a2a-bindings.ts';
import { type OperationCall, type OperationContext, perform } from './lf-a2a-operations.ts';

export interface JsonRpcContext extends OperationContext {
  readonly clock: Clock;
  readonly maxBytes: number;
}

/** The JSON-RPC binding, at the base URL of an agent. The names of the methods in 1.0 and 0.3 are disjoint. */
export function jsonRpcRoute(path: string, context: JsonRpcContext): Route {
  return {
    method: 'POST',
    path,
    access: 'agent',
    counts: true,
    summary: 'A2A over JSON-RPC, 1.0 and 0.3; streaming methods answer as SSE.',
    parameters: [A2A_VERSION],
    body: { contentTypes: ['application/json'], maxBytes: context.maxBytes, schema: { type: 'object' } },
    handle: (request) => jsonRpc(request, context),
  };
}

async function jsonRpc(request: InboundRequest, context: JsonRpcContext): Promise<Answer | Failure> {
  const read = await request.readJson();
  if (!read.ok) return rpcError(null, a2aErrorOf(failure('not_json', { issues: read.issues })));
  const { value: json } = read;
  const id = isObject(json) && isId(json['id']) ? json['id'] : null;
  const message = decodeJsonRpc(json);
  if (!message.ok) {
    const error = a2aErrorOf(failure('invalid_message', { issues: message.issues }));
    return rpcError(id, { ...error, code: -32600 });
  }
  if (message.value.kind !== 'request') return rpcError(id, notARequest());
  const { method, params = {} } = message.value.message as { method: string; params?: Json };
  const known = operationOf(method);
  if (known === undefined) return rpcError(id, a2aErrorOf(failure('unknown_method', {}, `Unknown method ${method}.`)));
  const unserved = versionError(request);
  if (unserved !== undefined) return rpcError(id, unserved);
  const { operation, version } = known;
  const call: OperationCall = { request, version, binding: 'JSONRPC', jsonrpcId: id };
  const wrap = (result: Json): JsonObject => ({ jsonrpc: '2.0', id, result });
  try {
    const result = await perform(operation, params, call, context);
    if ('error' in result) return rpcError(id, result.error);
    if ('json' in result) return { status: 200, json: wrap(result.json) };
    return eventStream(result.events, context.clock, wrap);
  } catch (error) {
    const known = failureOf(error);
    if (known === undefined) throw error;
    return HTTP_ERRORS.has(known.code) ? known : rpcError(id, taskErrorOf(known));
  }
}

function rpcError(id: string | number | null, { code, message, details }: A2aError): Answer {
  return { status: 200, json: { jsonrpc: '2.0', id, error: { code, message, data: [...details] } } };
}

function notARequest(): A2aError {
  return { ...a2aErrorOf(failure('invalid_message', {}, 'Expected a JSON-RPC request with an id.')), code: -32600 };
}

function isId(id: Json | undefined): id is string | number {
  return typeof id === 'string' || Number.isSafeInteger(id);
}

/** Codes that are answered with an HTTP status of their own in every binding. */
const HTTP_ERRORS: ReadonlySet<string> = new Set(['unauthenticated', 'forbidden', 'rate_limited', 'busy']);
