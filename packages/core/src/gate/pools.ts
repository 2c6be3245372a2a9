import { LRUCache } from 'lru-cache';
import type { buildConnector, Pool } from 'undici';

/** What one connection may be used for again: nothing is shared over any of these. */
export interface PoolKey {
  readonly caller: string;
  /** The secrets that are sent, by id and version. */
  readonly credentials: string;
  readonly origin: string;
  readonly address: string;
}

/** Open connections, kept for a moment for the next request of the same kind, and bounded in number. */
export class Pools implements AsyncDisposable {
  readonly #connect: (key: PoolKey) => buildConnector.connector;
  readonly #pools = new LRUCache<string, Pool>({
    max: MAX_POOLS,
    // What runs on it may finish.
    dispose: (pool) => void pool.close().catch(() => {}),
  });

  #undici: typeof import('undici') | undefined;

  constructor({ connect }: { connect: (key: PoolKey) => buildConnector.connector }) {
    this.#connect = connect;
  }

  async get(key: PoolKey): Promise<Pool> {
    // Loaded with the first request: a server that calls nobody need not keep it in memory.
    this.#undici ??= await import('undici');
    const name = `${key.caller}\0${key.credentials}\0${key.origin}\0${key.address}`;
    const known = this.#pools.get(name);
    if (known !== undefined) return known;
    const pool = new this.#undici.Pool(key.origin, { ...POOL_OPTIONS, connect: this.#connect(key) });
    this.#pools.set(name, pool);
    return pool;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const open = [...this.#pools.values()];
    await Promise.all(open.map((pool) => pool.destroy()));
    this.#pools.clear();
  }
}

const MAX_POOLS = 512;

/** Time is bounded for the whole exchange by who asks, so the library's own clocks are off. */
const POOL_OPTIONS: Pool.Options = {
  connections: 64,
  pipelining: 1,
  keepAliveTimeout: 4000,
  keepAliveMaxTimeout: 10_000,
  maxHeaderSize: 16 * 1024,
  headersTimeout: 0,
  bodyTimeout: 0,
};
