import { SCHEMA_BASE, type SchemaSet } from '../schema.ts';
import { JsonRpcErrorResponse, JsonRpcNotification, JsonRpcRequest, JsonRpcSuccess } from './shapes.ts';

const schemas: SchemaSet = {
  dialect: 'jsonrpc',
  schemas: {
    Request: { $id: `${SCHEMA_BASE}/jsonrpc/request.json`, title: 'JSON-RPC 2.0 request', ...JsonRpcRequest },
    Notification: {
      $id: `${SCHEMA_BASE}/jsonrpc/notification.json`,
      title: 'JSON-RPC 2.0 notification',
      ...JsonRpcNotification,
    },
    Success: { $id: `${SCHEMA_BASE}/jsonrpc/success.json`, title: 'JSON-RPC 2.0 result', ...JsonRpcSuccess },
    ErrorResponse: { $id: `${SCHEMA_BASE}/jsonrpc/error.json`, title: 'JSON-RPC 2.0 error', ...JsonRpcErrorResponse },
  },
};

export default schemas;
