import { DEFAULT_JSON_LIMITS, type Json } from '@dragoman/protocols';
import { ChildTransport } from './child-transport.ts';
import type { DirectInner } from './direct-transport.ts';
import { gateFetch } from './gate-fetch.ts';
import type { McpServerOptions } from './mcp-server.ts';
import { NoticeLimit } from './notice-limit.ts';
import { isTooDeep, unreadableAnswer } from './unreadable-answer.ts';
import { type RequestId, TRIES, watchStreams } from './watch-streams.ts';

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
  const cutOff = (why: string) => {
    log.warn({ mcp_server: name, error: why }, 'an MCP server is cut off');
    transport.close().catch(() => {});
  };
  const watched = watchStreams(fetch, {
    clock,
    isAwaited: (id) => transport.awaits?.({ jsonrpc: '2.0', id, result: {} }) === true,
    onOver: (id) => transport.onover?.(id),
    onLost: () => cutOff('what it says by itself cannot be heard any more'),
  });
  // Its optional members are declared in a way that `exactOptionalPropertyTypes` does not take.
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: watched,
    reconnectionOptions: RECONNECTION,
  }) as unknown as DirectInner;
  const notices = new NoticeLimit({ clock, onFlood: () => cutOff('it flooded us') });
  transport.takes = (came) => {
    if (came instanceof Error) return notices.takes();
    const isAwaited = transport.awaits?.(came) === true;
    // The SDK reads what is nested without end, and nobody after it could write it.
    if (!isTooDeep(came as unknown as Json)) return isAwaited || notices.takes();
    const { id } = came as { readonly id?: RequestId };
    if (isAwaited && id !== undefined) transport.onmessage?.(unreadableAnswer(id, TOO_DEEP));
    else notices.takes();
    return false;
  };
  return transport;
}

const TOO_DEEP = `expected at most ${DEFAULT_JSON_LIMITS.depth} levels of nesting`;
/** After 1, 2, 4 … seconds. */
const RECONNECTION = {
  initialReconnectionDelay: 1_000,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: TRIES,
};
