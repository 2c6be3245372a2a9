import type { Json, JsonObject } from '@dragoman/protocols';
import { isObject } from '@dragoman/protocols';
import type { Principal } from '../../call/principal.ts';
import type { Ids } from '../../ports/ports.ts';
import type { McpNodes } from './mcp-nodes.ts';
import type { Seals } from './seals.ts';

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
  /** Ends the session's stream of notices; `undefined` while it has none. */
  endNotices: (() => void) | undefined;
}

export type NewSession = Pick<McpSession, 'agentId' | 'version' | 'client' | 'capabilities'>;

export interface McpSessionsOptions {
  readonly ids: Ids;
  readonly seals: Seals;
  readonly nodes: Pick<McpNodes, 'node'> | undefined;
}

/**
 * Sessions live in memory: after a restart a client receives an error and opens a new session. With several nodes the id contains the
 * session, sealed, and each node that receives it opens the session too.
 */
export class McpSessions {
  readonly #options: McpSessionsOptions;
  /** Least recently used first. */
  readonly #byId = new Map<string, McpSession>();

  constructor(options: McpSessionsOptions) {
    this.#options = options;
  }

  /** Opens a session. Where the caller has too many, its least recently used one is closed. */
  open({ id: owner }: Principal, given: NewSession): McpSession {
    const { ids, seals, nodes } = this.#options;
    const id = ids.hex();
    const { agentId = null, version, client, capabilities } = given;
    const sealed = nodes && seals.seal(PURPOSE, [nodes.node, id, owner, agentId, version, client, capabilities]);
    return this.#add({ ...given, id: sealed ?? id, owner });
  }

  #add(given: NewSession & Pick<McpSession, 'id' | 'owner'>): McpSession {
    const { owner } = given;
    const own = [...this.#byId.values()].filter((session) => session.owner === owner);
    const idle = own.filter(({ calls }) => calls.size === 0);
    if (own.length >= MOST_PER_CALLER) this.end((idle[0] ?? own[0])?.id ?? '');
    const session = { ...given, calls: new Map(), endNotices: undefined };
    this.#byId.set(session.id, session);
    return session;
  }

  find({ id: owner }: Principal, id: string, agentId: string | undefined): McpSession | undefined {
    const session = this.#byId.get(id) ?? this.#ofOtherNode(id);
    if (session === undefined || session.owner !== owner || session.agentId !== agentId) return undefined;
    this.#byId.delete(id);
    this.#byId.set(id, session);
    return session;
  }

  /** The session with this id, if it is open at this node. */
  get(id: string): McpSession | undefined {
    return this.#byId.get(id);
  }

  /** Opens a session of another node. A session of this node that is not in memory has ended. */
  #ofOtherNode(id: string): McpSession | undefined {
    const { seals, nodes } = this.#options;
    const values = nodes && seals.open(PURPOSE, id);
    if (values === undefined || values[0] === nodes?.node) return undefined;
    const [, , owner, agentId, version, client, capabilities] = values as SealedSession;
    return this.#add({ id, owner, agentId: agentId ?? undefined, version, client, capabilities });
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
          .filter(({ length }) => length <= LONGEST_NAME)
          .slice(0, 32)
          .map((name) => [name, true]),
      ),
    }),
  };
}

type SealedSession = readonly [
  node: number,
  hex: string,
  owner: string,
  agentId: string | null,
  version: string,
  client: string,
  capabilities: JsonObject,
];

const PURPOSE = 'session';
const MOST_PER_CALLER = 256;
/** The limit on the name of an extension, because session ids contain these names. */
const LONGEST_NAME = 128;
