import { JsonRpcId, Opaque } from '../schema.ts';
import type { Static } from '../static.ts';

const version = { const: '2.0' } as const;
const method = { type: 'string', minLength: 1 } as const;
const params = { type: ['object', 'array'] } as const;

export const JsonRpcRequest = {
  type: 'object',
  required: ['jsonrpc', 'id', 'method'],
  properties: { jsonrpc: version, id: JsonRpcId, method, params },
} as const;
export type JsonRpcRequest = Static<typeof JsonRpcRequest>;

/** A notification: a call without an id, which has no response. */
export const JsonRpcNotification = {
  type: 'object',
  required: ['jsonrpc', 'method'],
  properties: { jsonrpc: version, method, params },
} as const;
export type JsonRpcNotification = Static<typeof JsonRpcNotification>;

export const JsonRpcSuccess = {
  type: 'object',
  required: ['jsonrpc', 'id', 'result'],
  properties: { jsonrpc: version, id: JsonRpcId, result: Opaque },
} as const;
export type JsonRpcSuccess = Static<typeof JsonRpcSuccess>;

export const JsonRpcErrorResponse = {
  type: 'object',
  required: ['jsonrpc', 'id', 'error'],
  properties: {
    jsonrpc: version,
    id: JsonRpcId,
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: { code: { type: 'integer' }, message: { type: 'string' }, data: Opaque },
    },
  },
} as const;
export type JsonRpcErrorResponse = Static<typeof JsonRpcErrorResponse>;
