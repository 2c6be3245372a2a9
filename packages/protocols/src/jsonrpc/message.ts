import * as validators from '../generated/jsonrpc.js';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { accept, type Outcome, reject } from '../outcome.ts';
import type { Static } from '../static.ts';
import { issuesOf, show, type Validator } from '../validation.ts';
import { JsonRpcErrorResponse, JsonRpcNotification, JsonRpcRequest, JsonRpcSuccess } from './shapes.ts';

/** One JSON-RPC 2.0 message; its members decide its kind: a method with or without an id, a result or an error. */
export type JsonRpcMessage =
  | { readonly kind: 'request'; readonly message: Static<typeof JsonRpcRequest> }
  | { readonly kind: 'notification'; readonly message: Static<typeof JsonRpcNotification> }
  | { readonly kind: 'success'; readonly message: Static<typeof JsonRpcSuccess> }
  | { readonly kind: 'error'; readonly message: Static<typeof JsonRpcErrorResponse> };

export function decodeJsonRpc(json: Json): Outcome<JsonRpcMessage> {
  if (Array.isArray(json)) {
    const message = 'the message must be one JSON-RPC object; got a batch';
    return reject({ pointer: '', code: 'batch', message, suggestion: 'send the calls one by one' });
  }
  if (!isObject(json)) {
    return reject({ pointer: '', code: 'type', message: `the message must be an object; got ${show(json)}` });
  }
  const kind = kindOf(json);
  if (kind === undefined) {
    const message = 'the message must have a method, a result or an error; got none of them';
    return reject({ pointer: '', code: 'not_jsonrpc', message });
  }
  const { validate, schema } = KINDS[kind];
  const issues = [...issuesOf(validate, schema, json)];
  if (kind !== 'notification' && kind !== 'request' && Object.hasOwn(json, 'result') && Object.hasOwn(json, 'error')) {
    issues.push({
      pointer: '/error',
      code: 'forbidden',
      message: 'a message must not have both error and result; got both',
    });
  }
  if (issues.length > 0) return reject(...issues);
  return accept({ kind, message: json } as unknown as JsonRpcMessage);
}

function kindOf(json: JsonObject): JsonRpcMessage['kind'] | undefined {
  if (Object.hasOwn(json, 'method')) return Object.hasOwn(json, 'id') ? 'request' : 'notification';
  if (Object.hasOwn(json, 'error')) return 'error';
  return Object.hasOwn(json, 'result') ? 'success' : undefined;
}

/** The codes the specification reserves. */
export const JSON_RPC_CODES = {
  parse_error: -32700,
  invalid_request: -32600,
  method_not_found: -32601,
  invalid_params: -32602,
  internal_error: -32603,
} as const;

const KINDS = {
  request: { validate: validators.Request, schema: JsonRpcRequest },
  notification: { validate: validators.Notification, schema: JsonRpcNotification },
  success: { validate: validators.Success, schema: JsonRpcSuccess },
  error: { validate: validators.ErrorResponse, schema: JsonRpcErrorResponse },
} satisfies Record<JsonRpcMessage['kind'], { validate: Validator; schema: object }>;
