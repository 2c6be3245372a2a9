import type { JsonObject } from '@dragoman/protocols';
import type { CompleteParams } from '@dragoman/protocols/mcp';
import type { Principal } from '../../call/principal.ts';
import type { Log } from '../../ports/ports.ts';
import { refuse } from '../../refusals/refused.ts';
import { withoutInvisible } from '../../tools/mcp/invisible.ts';
import { mayUseServer } from '../../tools/mcp/may-use-server.ts';
import type { McpServer } from '../../tools/mcp/mcp-server.ts';
import type { McpServers } from '../../tools/mcp/mcp-servers.ts';
import { WireRefused } from '../../tools/wire/wire-refused.ts';

export interface UpstreamOptions {
  readonly servers: Pick<McpServers, 'servers' | 'ready'>;
  readonly log: Log;
}

/** The caller on whose behalf servers are called, and the limit of the call. */
export interface UpstreamCaller {
  readonly principal: Principal;
  readonly signal: AbortSignal;
}

/** A prompt or a template, with the server that has it. */
export interface UpstreamItem {
  readonly server: McpServer;
  readonly definition: JsonObject;
}

/**
 * Prompts and resources of the MCP servers in the configuration, unchanged. Tools of these servers are in the catalogue. Callers see the
 * servers of which they may use a tool; a server that does not answer is skipped.
 */
export class Upstream {
  readonly #options: UpstreamOptions;

  constructor(options: UpstreamOptions) {
    this.#options = options;
  }

  prompts(asking: UpstreamCaller): Promise<UpstreamItem[]> {
    return this.#each(asking, 'prompts', async (server, options) =>
      all(async (cursor) => {
        const page = await server.ask(asking.signal, (client) => client.listPrompts(cursor, options));
        return { items: page.prompts, next: page.nextCursor };
      }),
    );
  }

  async resources(asking: UpstreamCaller): Promise<JsonObject[]> {
    const found = await this.#each(asking, 'resources', async (server, options) => {
      const resources = await all(async (cursor) => {
        const page = await server.ask(asking.signal, (client) => client.listResources(cursor, options));
        return { items: page.resources, next: page.nextCursor };
      });
      return resources.filter(({ uri }) => server.allowsResource(uri) && !OWN_URI.test(uri));
    });
    return found.map(({ definition }) => definition);
  }

  templates(asking: UpstreamCaller): Promise<UpstreamItem[]> {
    return this.#each(asking, 'resources', async (server, options) =>
      all(async (cursor) => {
        const page = await server.ask(asking.signal, (client) => client.listTemplates(cursor, options));
        return { items: page.resourceTemplates, next: page.nextCursor };
      }),
    );
  }

  async prompt(server: McpServer, name: string, args: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const options = { signal, timeout: server.timeoutMs };
    try {
      return (await server.ask(signal, (client) => client.getPrompt({ name, arguments: args }, options))) as JsonObject;
    } catch (error) {
      if (error instanceof WireRefused && isUnknown(error)) refuse('invalid_message', {}, error.message);
      throw error;
    }
  }

  /** Reads a resource from the first server that has it; `undefined` when none has. */
  async read(uri: string, { principal, signal }: UpstreamCaller): Promise<JsonObject | undefined> {
    if (OWN_URI.test(uri)) return undefined;
    for (const server of await this.#able(principal, 'resources')) {
      if (!server.allowsResource(uri)) continue;
      const options = { signal, timeout: server.timeoutMs };
      try {
        return (await server.ask(signal, (client) => client.readResource(uri, options))) as JsonObject;
      } catch (error) {
        if (!isUnknown(error)) throw error;
      }
    }
    return undefined;
  }

  /** The server's completions, if it supports them. */
  async complete(server: McpServer, params: CompleteParams, signal: AbortSignal): Promise<readonly string[]> {
    if (!server.has('completions')) return [];
    const { ref, argument, context } = params;
    const request = { ref, argument, ...(context !== undefined && { context }) } as JsonObject;
    const options = { signal, timeout: Math.min(server.timeoutMs, PATIENCE_MS) };
    return (await server.ask(signal, (client) => client.complete(request, options))).completion.values;
  }

  async #able(principal: Principal, capability: 'prompts' | 'resources'): Promise<McpServer[]> {
    const { servers } = this.#options;
    await servers.ready;
    return [...servers.servers()].filter((server) => server.has(capability) && mayUseServer(principal, server.name));
  }

  async #each(
    { principal, signal }: UpstreamCaller,
    capability: 'prompts' | 'resources',
    read: (server: McpServer, options: { signal: AbortSignal; timeout: number }) => Promise<readonly object[]>,
  ): Promise<UpstreamItem[]> {
    const able = await this.#able(principal, capability);
    const lists = await Promise.all(
      able.map(async (server) => {
        try {
          return await read(server, { signal, timeout: Math.min(server.timeoutMs, PATIENCE_MS) });
        } catch (error) {
          signal.throwIfAborted();
          // A server that has resources but no templates may answer with this error.
          if (isUnknown(error)) return [];
          const why = error instanceof Error ? error.message : String(error);
          this.#options.log.warn(
            { mcp_server: server.name, error: why },
            `the ${capability} of an MCP server cannot be listed`,
          );
          return [];
        }
      }),
    );
    return able.flatMap((server, index) =>
      (lists[index] ?? []).map((item) => ({ server, definition: withoutInvisible(item as JsonObject) as JsonObject })),
    );
  }
}

async function all<Item>(
  read: (cursor: { readonly cursor?: string }) => Promise<{ items: readonly Item[]; next: string | undefined }>,
): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: { readonly cursor?: string } | undefined = {};
  for (let pages = 0; cursor !== undefined && pages < MOST_PAGES; pages++) {
    const page: { items: readonly Item[]; next: string | undefined } = await read(cursor);
    items.push(...page.items);
    cursor = page.next === undefined || page.next === '' ? undefined : { cursor: page.next };
  }
  return items.slice(0, MOST_ITEMS);
}

/** MCP: an unknown URI is "invalid params" or, before 2026-07-28, "resource not found"; a list that a server lacks, "method not found". */
function isUnknown(error: unknown): boolean {
  return error instanceof WireRefused && UNKNOWN.has(error.detail['mcp_code']);
}

/** Resources of this server, which no other server may answer. */
const OWN_URI = /^(?:e2a|a2e|knowledge):/i;
const UNKNOWN: ReadonlySet<unknown> = new Set([-32602, -32002, -32601]);
const PATIENCE_MS = 10_000;
const MOST_PAGES = 10;
const MOST_ITEMS = 1000;
