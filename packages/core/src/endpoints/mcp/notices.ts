import { hash } from 'node:crypto';
import type { JsonObject } from '@dragoman/protocols';
import { type ListenParams, MCP_META } from '@dragoman/protocols/mcp';
import type { Principal } from '../../call/principal.ts';
import type { Callers } from '../../callers/callers.ts';
import type { Clock } from '../../ports/ports.ts';
import type { McpCatalogue } from './catalogue.ts';
import type { McpCall, McpContext } from './mcp-call.ts';

export interface NoticesOptions {
  readonly catalogue: McpCatalogue;
  readonly callers: Pick<Callers, 'renewed'>;
  readonly clock: Clock;
}

/** The lists whose changes a client can subscribe to. */
export interface Watched {
  readonly tools: boolean;
  readonly prompts: boolean;
}

/**
 * Notifies callers that their list of tools, or of prompts, has changed: after a reload, a registration, an accepted tool or a change of
 * their permissions. Lists are compared once a second while there are subscribers.
 */
export class McpNotices {
  readonly #options: NoticesOptions;
  readonly #stopped = new AbortController();

  constructor(options: NoticesOptions) {
    this.#options = options;
  }

  /** Ends every stream, for a server that stops. */
  stop(): void {
    this.#stopped.abort();
  }

  /** `subscriptions/listen`: first the accepted subscription, then its notices, and the result when the server stops. */
  async *listen({ notifications }: ListenParams, call: McpCall): AsyncGenerator<JsonObject, JsonObject, undefined> {
    const { toolsListChanged = false, promptsListChanged = false } = notifications;
    const _meta = { [MCP_META.subscription]: call.id };
    const honoured = {
      ...(toolsListChanged && { toolsListChanged }),
      ...(promptsListChanged && { promptsListChanged }),
    };
    const method = 'notifications/subscriptions/acknowledged';
    yield { jsonrpc: '2.0', method, params: { notifications: honoured, _meta } };
    const watched = { tools: toolsListChanged, prompts: promptsListChanged };
    yield* this.messages(call, { watched, signal: call.signal, params: { _meta } });
    return { _meta };
  }

  /** Notices until the signal aborts or the server stops. */
  async *messages(
    { principal, agentId }: Pick<McpContext, 'principal' | 'agentId'>,
    { watched, signal, params }: { watched: Watched; signal: AbortSignal; params?: JsonObject },
  ): AsyncGenerator<JsonObject, void, undefined> {
    for await (const method of this.#watch(principal, { agentId, watched, signal })) {
      yield { jsonrpc: '2.0', method, ...(params !== undefined && { params }) };
    }
  }

  /** The method of each notice. */
  async *#watch(
    principal: Principal,
    { agentId, watched, signal }: { agentId: string | undefined; watched: Watched; signal: AbortSignal },
  ): AsyncGenerator<string, void, undefined> {
    const { clock, callers } = this.#options;
    const over = AbortSignal.any([signal, this.#stopped.signal]);
    let before = await this.#lists(principal, agentId);
    while (!over.aborted) {
      await clock.wait(EVERY_MS, over).catch(() => {});
      if (over.aborted) return;
      const now = await this.#lists(callers.renewed(principal), agentId);
      if (watched.tools && now.tools !== before.tools) yield 'notifications/tools/list_changed';
      if (watched.prompts && now.prompts !== before.prompts) yield 'notifications/prompts/list_changed';
      before = now;
    }
  }

  async #lists(principal: Principal, agentId: string | undefined): Promise<{ tools: string; prompts: string }> {
    const { catalogue } = this.#options;
    const tools = await catalogue.list(principal, agentId);
    const digest = (list: typeof tools) =>
      hash(
        'sha256',
        list.map(({ name, definition }) => `${name}\n${String(definition['description'])}\n`).join(''),
        'base64',
      );
    return {
      tools: `${catalogue.version} ${digest(tools)}`,
      prompts: digest(tools.filter(({ kind }) => kind !== 'tool')),
    };
  }
}

const EVERY_MS = 1000;
