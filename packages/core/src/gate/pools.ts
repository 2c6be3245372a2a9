import { LRUCache } from 'lru-cache';
import type { buildConnector, Pool } from 'undici';
import type { GateLimits } from './limits.ts';

/** The key of a reusable connection. Requests with different keys share no connection. */
export interface PoolKey {
  readonly caller: string;
  /** The secrets that are sent, by id and version. */
  readonly credentials: string;
  readonly origin: string;
  readonly address: string;
}

/** Connections that stay open for a moment, for the next request with the same key. Their number is limited. */
export class Pools implements AsyncDisposable {
  readonly #connect: (key: PoolKey) => buildConnector.connector;
  readonly #pools: LRUCache<string, Pool>;
  readonly #options: Pool.Options;
  #undici: typeof import('undici') | undefined;

  constructor({ connect, limits }: { connect: (key: PoolKey) => buildConnector.connector; limits: GateLimits }) {
    this.#connect = connect;
    this.#options = {
      connections: limits.connections_per_origin,
      pipelining: 1,
      keepAliveTimeout: limits.keep_alive_ms,
      // A server may ask for a longer time, and gets at most this.
      keepAliveMaxTimeout: Math.floor(limits.keep_alive_ms * 2.5),
      maxHeaderSize: limits.header_bytes,
      // The caller limits the time of the whole exchange, so the library's own timeouts are off.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    this.#pools = new LRUCache({
      max: limits.origins,
      // `close` lets running requests finish.
      dispose: (pool) => void pool.close().catch(() => {}),
    });
  }

  /** Returns an open pool at once, or the promise of a new one. */
  get(key: PoolKey): Pool | Promise<Pool> {
    const name = `${key.caller}\0${key.credentials}\0${key.origin}\0${key.address}`;
    return this.#pools.get(name) ?? this.#open(name, key);
  }

  async #open(name: string, key: PoolKey): Promise<Pool> {
    // Loaded with the first request: a server without outbound requests need not keep it in memory.
    this.#undici ??= await import('undici');
    const known = this.#pools.get(name);
    if (known !== undefined) return known;
    const pool = new this.#undici.Pool(key.origin, { ...this.#options, connect: this.#connect(key) });
    this.#pools.set(name, pool);
    return pool;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const open = [...this.#pools.values()];
    await Promise.all(open.map((pool) => pool.destroy()));
    this.#pools.clear();
  }
}
