import type { Json, JsonObject } from '@dragoman/protocols';
import { isObject } from '@dragoman/protocols';
import type { Principal } from '../../call/principal.ts';
import type { Ids } from '../../ports/ports.ts';

/** A connection of a revision before 2026-07-28, from `initialize` until the client ends it or the server stops. */
export interface McpSession {
  readonly id: string;
  /** The caller it belongs to; for every other caller it does not exist. */
  readonly owner: string;
  /** The agent of the endpoint at which it was opened. */
  readonly agentId: string | undefined;
  readonly version: string;
  readonly client: string;
  readonly capabilities: JsonObject;
  /** Cancels running calls, by JSON-RPC id. */
  readonly calls: Map<Json, AbortController>;
  /** The functions that take the responses to requests sent to the client, by JSON-RPC id. */
  readonly pending: Map<Json, (response: JsonObject) => void>;
  /** Ends the stream of notices, of which there is one. */
  endNotices: (() => void) | undefined;
}

export type NewSession = Pick<McpSession, 'agentId' | 'version' | 'client' | 'capabilities'>;

/** Sessions live in memory: after a restart a client receives an error and opens a new session. */
export class McpSessions {
  readonly #ids: Ids;
  /** Least recently used first. */
  readonly #byId = new Map<string, McpSession>();

  constructor(ids: Ids) {
    this.#ids = ids;
  }

  /** Opens a session. Where the caller has too many, its least recently used one is closed. */
  open({ id: owner }: Principal, given: NewSession): McpSession {
    const own = [...this.#byId.values()].filter((session) => session.owner === owner);
    const idle = own.filter(({ calls }) => calls.size === 0);
    if (own.length >= MOST_PER_CALLER) this.end((idle[0] ?? own[0])?.id ?? '');
    const session = {
      ...given,
      id: this.#ids.hex(),
      owner,
      calls: new Map(),
      pending: new Map(),
      endNotices: undefined,
    };
    this.#byId.set(session.id, session);
    return session;
  }

  find({ id: owner }: Principal, id: string, agentId: string | undefined): McpSession | undefined {
    const session = this.#byId.get(id);
    if (session === undefined || session.owner !== owner || session.agentId !== agentId) return undefined;
    this.#byId.delete(id);
    this.#byId.set(id, session);
    return session;
  }

  end(id: string): void {
    this.#byId.get(id)?.endNotices?.();
    this.#byId.delete(id);
  }
}

/** The client capabilities that this server uses; the rest is dropped, because a client may send any amount. */
export function knownCapabilities({ elicitation, extensions }: JsonObject): JsonObject {
  return {
    ...(isObject(elicitation) && {
      elicitation: {
        form: isObject(elicitation['form']) || elicitation['url'] === undefined,
        url: isObject(elicitation['url']),
      },
    }),
    ...(isObject(extensions) && {
      extensions: Object.fromEntries(
        Object.keys(extensions)
          .slice(0, 32)
          .map((name) => [name, true]),
      ),
    }),
  };
}

const MOST_PER_CALLER = 256;
