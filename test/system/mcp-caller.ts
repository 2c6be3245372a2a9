import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { call, type HttpAnswer } from './call.ts';

const INFO = { name: 'test-client', version: '1.0.0' };

/** The official client of the revisions with sessions. */
export async function legacyClient(url: string, key: string, path = '/mcp'): Promise<LegacyClient> {
  const client = new LegacyClient(INFO);
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new LegacyTransport(new URL(path, url), { requestInit }) as Transport);
  return client;
}

/** One message as plain HTTP. */
export interface RawMessage {
  readonly key?: string;
  readonly path?: string;
  readonly json: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export function post(url: string, { key, path = '/mcp', json, headers }: RawMessage): Promise<HttpAnswer> {
  return call(url, {
    method: 'POST',
    path,
    ...(key !== undefined && { key }),
    accept: 'application/json, text/event-stream',
    json,
    ...(headers !== undefined && { headers }),
  });
}

/** A session as plain HTTP, with the header that names it. */
export async function openSession(url: string, key: string, path = '/mcp'): Promise<Readonly<Record<string, string>>> {
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: INFO };
  const answer = await post(url, { key, path, json: { jsonrpc: '2.0', id: 0, method: 'initialize', params } });
  await answer.text();
  return { 'mcp-session-id': String(answer.headers['mcp-session-id']) };
}

/** A request of 2026-07-28 with the headers that belong to it. */
export function modern(
  method: string,
  params: JsonObject = {},
  { id = 1, capabilities = {} }: { id?: number | string; capabilities?: JsonObject } = {},
): { readonly json: JsonObject; readonly headers: Readonly<Record<string, string>> } {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': INFO,
    'io.modelcontextprotocol/clientCapabilities': capabilities,
    ...(params['_meta'] as JsonObject | undefined),
  };
  const name = params['name'] ?? params['uri'];
  return {
    json: { jsonrpc: '2.0', id, method, params: { ...params, _meta } },
    headers: {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': name }),
    },
  };
}
