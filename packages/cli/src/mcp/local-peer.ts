import { ALL_PERMISSIONS, type McpContext, type Principal } from '@dragoman/core';
import { isObject, type JsonObject } from '@dragoman/protocols';
import { isModern } from '@dragoman/protocols/mcp';
import type { Server } from '@dragoman/server';
import type { McpPeer } from './peer.ts';

/** The MCP server in this process. Its client is the program that started it, and may do everything. */
export class LocalPeer implements McpPeer {
  readonly #endpoint: Server['mcp']['endpoint'];
  readonly #agentId: string | undefined;
  #sessionId: string | undefined;

  constructor({ mcp }: Pick<Server, 'mcp'>, agentId: string | undefined) {
    this.#endpoint = mcp.endpoint;
    this.#agentId = agentId;
  }

  async *send(message: JsonObject, signal: AbortSignal): AsyncGenerator<JsonObject, void, undefined> {
    const reply = await this.#endpoint.receive(message, this.#context(message, signal));
    if ('accepted' in reply) return;
    if ('messages' in reply) yield* reply.messages;
    else {
      this.#sessionId = reply.sessionId ?? this.#sessionId;
      yield reply.message;
    }
  }

  async *notices(signal: AbortSignal): AsyncGenerator<JsonObject, void, undefined> {
    const notices = this.#endpoint.notices(this.#context({}, signal));
    if (Symbol.asyncIterator in notices) yield* notices;
  }

  async close(): Promise<void> {
    this.#endpoint.end(this.#context({}, new AbortController().signal));
  }

  #context(message: JsonObject, signal: AbortSignal): McpContext {
    const isOfSession = !(isObject(message) && isModern(message));
    return {
      principal: OPERATOR,
      agentId: this.#agentId,
      ...(isOfSession && { sessionId: this.#sessionId }),
      received: { dialect: 'mcp', text: JSON.stringify(message) },
      signal,
    };
  }
}

const OPERATOR: Principal = { id: 'admin', kind: 'admin', permissions: ALL_PERMISSIONS };
