import { References } from '../../vault/references.ts';
import { JsonReader } from '../../worker-threads/json-reader.ts';
import type { ConfiguredMcpServer } from '../tools-config.ts';
import { ChildTransport } from './child-transport.ts';
import { McpHttpTransport } from './http-transport.ts';
import type { McpServerOptions } from './mcp-server.ts';
import type { McpTransport } from './mcp-transport.ts';

/** Opens the transport that the operator configured: a program that is started, or a URL through the gate. */
export async function openTransport(options: McpServerOptions, timeoutMs: number): Promise<McpTransport> {
  const { name: server, config, clock, log, folder, gate, reader = new JsonReader() } = options;
  const { command, args, url } = config;
  const { env, headers } = referencesOf(server, config, options.references);
  if (command !== undefined) {
    return new ChildTransport({ server, command, args, env: await env(), folder, clock, log, reader });
  }
  if (url === undefined) throw new Error('it needs command or url');
  if (gate === undefined) throw new Error('outbound requests are not available here');
  return new McpHttpTransport({ server, url, headers, gate, timeoutMs, clock, log, reader });
}

/** The variables and headers of a server, with their references to secrets. Throws for a missing variable or file. */
export function referencesOf(
  server: string,
  { env, headers }: ConfiguredMcpServer,
  references: References = new References(),
) {
  const at = `mcp_servers.${server}`;
  return {
    env: references.variables(env, `${at}.env`),
    headers: references.headers(headers, `${at}.headers`),
  };
}
