import { JsonReader } from '../../threads/json-reader.ts';
import { ChildTransport } from './child-transport.ts';
import { type HttpTransportOptions, McpHttpTransport } from './http-transport.ts';
import type { McpServerOptions } from './mcp-server.ts';
import type { McpTransport } from './mcp-transport.ts';

/** The way to a server as the operator configured it: a program that is started, or an address behind the gate. */
export function openTransport(options: McpServerOptions, timeoutMs: number): McpTransport {
  const { name: server, config, clock, log, folder, gate, reader = new JsonReader() } = options;
  const { command, args = [], env = {}, url } = config;
  if (command !== undefined) return new ChildTransport({ server, command, args, env, folder, clock, log, reader });
  if (url === undefined) throw new Error('it needs command or url');
  if (gate === undefined) throw new Error('there is no way out to the network here');
  const headers = (config.headers ?? {}) as HttpTransportOptions['headers'];
  return new McpHttpTransport({ server, url, headers, gate, timeoutMs, clock, log, reader });
}
