import { watchAnswers } from './answer-watch.ts';
import { ChildTransport } from './child-transport.ts';
import type { DirectInner } from './direct-transport.ts';
import { gateFetch } from './gate-fetch.ts';
import type { McpServerOptions } from './mcp-server.ts';
import { NoticeLimit } from './notice-limit.ts';

/** The way to a server as the operator configured it: a program that is started, or an address behind the gate. */
export async function openTransport(options: McpServerOptions, timeoutMs: number): Promise<DirectInner> {
  const { name, config, clock, log, folder, gate } = options;
  const { command, args = [], env = {}, url, headers = {} } = config;
  if (command !== undefined) return new ChildTransport({ server: name, command, args, env, folder, clock, log });
  if (url === undefined) throw new Error('it needs command or url');
  if (gate === undefined) throw new Error('there is no way out to the network here');
  // Only who has such a server pays for loading its library.
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
  const fetch = gateFetch({
    gate,
    caller: `mcp:${name}`,
    headers: headers as Parameters<typeof gateFetch>[0]['headers'],
    timeoutMs,
  });
  const watched = watchAnswers(fetch, { clock, onOver: (id) => transport.onover?.(id) });
  // Its optional members are declared in a way that `exactOptionalPropertyTypes` does not take.
  const transport = new StreamableHTTPClientTransport(new URL(url), { fetch: watched }) as unknown as DirectInner;
  const notices = new NoticeLimit({
    clock,
    onFlood: () => {
      log.warn({ mcp_server: name, error: 'it flooded us' }, 'an MCP server is cut off');
      transport.close().catch(() => {});
    },
  });
  transport.takes = (came) => (!(came instanceof Error) && transport.awaits?.(came) === true) || notices.takes();
  return transport;
}
