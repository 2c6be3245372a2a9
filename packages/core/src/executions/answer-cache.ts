import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock, Ids } from '../ports/ports.ts';
import { CredentialUse } from '../secrets/credential-use.ts';
import type { ApiAnswer, ApiRequest } from '../workflow/effects.ts';

/**
 * Answers that may be reused for the next call of the same kind (A2E, Caching). The key has everything that could make
 * the answer differ: the caller, the version of each credential, and the whole request. Cached answers have been
 * through the gate, so they contain no secrets.
 */
export class AnswerCache {
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #ttlMs: number;
  readonly #versionOf: (credentialId: string) => string;
  readonly #entries: LRUCache<string, Entry>;
  /** When a caller last wrote to an origin. */
  readonly #written = new LRUCache<string, number>({ max: MOST_WRITTEN });
  /** When each owner's part of the cache was last cleared. `#allCleared` is for the whole cache. */
  readonly #cleared = new LRUCache<string, number>({ max: MOST_WRITTEN });
  #allCleared = 0;
  #now = 0;
  #calls = 0;

  constructor({ clock, ids, ttlMs, versionOf, maxEntries = 1000, maxBytes = 67_108_864 }: AnswerCacheOptions) {
    this.#clock = clock;
    this.#ids = ids;
    this.#ttlMs = ttlMs;
    this.#versionOf = versionOf;
    this.#entries = new LRUCache({
      max: maxEntries,
      maxSize: maxBytes,
      sizeCalculation: ({ answer }) => answer.bytes.length + 256,
    });
  }

  find(owner: string, request: ApiRequest): ApiAnswer | undefined {
    if (this.#ttlMs === 0 || !isSafe(request)) return undefined;
    const key = this.#keyOf(owner, request);
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (this.#clock.elapsed() < entry.expiresAt) return { ...entry.answer, cached: true };
    this.#entries.delete(key);
    return undefined;
  }

  /**
   * Marks the start of a call. `keep` needs it: an answer is not kept if something was written to its origin after the
   * start.
   */
  startCall(owner: string, request: ApiRequest): CallStart {
    this.#calls += 1;
    const key = this.#ttlMs === 0 || request.method !== 'GET' ? undefined : this.#keyOf(owner, request);
    return { at: this.#now, number: this.#calls, key };
  }

  /**
   * Keeps the answer to a call. It is not kept if the caller or the peer forbids it, or if the origin was written to or
   * the cache was cleared since the start of the call. A kept answer gets a `lineage`, so that values computed from it
   * can be cached too.
   */
  keep(owner: string, request: ApiRequest, answer: ApiAnswer, { cacheControl, start }: KeepOptions): ApiAnswer {
    const { status } = answer;
    const ttlMs = Math.min(this.#ttlMs, maxAgeMs(cacheControl));
    if (start.key === undefined || status < 200 || status > 299) return answer;
    // A fresh answer replaces the cached one, even if it must not be cached itself.
    const kept = this.#entries.get(start.key);
    if (kept !== undefined && kept.number > start.number) return answer;
    if (ttlMs === 0 || hasDirective(request, NO_STORE)) {
      this.#entries.delete(start.key);
      return answer;
    }
    const origin = new URL(request.url).origin;
    const changed = [this.#written.get(`${owner} ${origin}`), this.#cleared.get(owner), this.#allCleared];
    if (changed.some((at = 0) => at > start.at)) return answer;
    // A name that was never used, not even before a restart. It is not a hash: hashing a large answer would block other
    // requests.
    const named = { ...answer, lineage: this.#ids.hex() };
    const expiresAt = this.#clock.elapsed() + ttlMs;
    this.#entries.set(start.key, { owner, origin, expiresAt, number: start.number, answer: named });
    return named;
  }

  /** Removes the cached answers from the origin of a URL, which a write may have outdated. */
  forgetOrigin(owner: string, url: string): void {
    const { origin } = new URL(url);
    this.#now += 1;
    this.#written.set(`${owner} ${origin}`, this.#now);
    this.#forget((entry) => entry.owner === owner && entry.origin === origin);
  }

  /** Removes the answers of one owner, or all of them. Returns how many. */
  clear(owner?: string): number {
    this.#now += 1;
    if (owner === undefined) this.#allCleared = this.#now;
    else this.#cleared.set(owner, this.#now);
    return this.#forget((entry) => owner === undefined || entry.owner === owner);
  }

  #forget(isMeant: (entry: Entry) => boolean): number {
    const keys = [...this.#entries.entries()].filter(([, entry]) => isMeant(entry)).map(([key]) => key);
    for (const key of keys) this.#entries.delete(key);
    return keys.length;
  }

  #keyOf(owner: string, { method, url, query, headers }: ApiRequest): string {
    const keyPart = (value: string | CredentialUse) =>
      value instanceof CredentialUse ? { credential: value.id, version: this.#versionOf(value.id) } : value;
    const parts = [
      owner,
      method,
      url,
      query.map(([name, value]) => [name, keyPart(value)]),
      Object.entries(headers)
        .map(([name, value]) => [name.toLowerCase(), keyPart(value)] as const)
        // This header changes how the answer is fetched, not the answer.
        .filter(([name]) => name !== 'cache-control')
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    ];
    return hash('sha256', JSON.stringify(parts), 'base64url');
  }
}

interface AnswerCacheOptions {
  readonly clock: Clock;
  readonly ids: Ids;
  /** 0 disables the cache. */
  readonly ttlMs: number;
  readonly versionOf: (credentialId: string) => string;
  readonly maxEntries?: number;
  readonly maxBytes?: number;
}

/** The facts about a call being sent that `keep` needs. */
interface CallStart {
  readonly at: number;
  /** The number of the call, counted from 1. */
  readonly number: number;
  /**
   * `undefined` when the answer cannot be cached. Computed before the call is sent, because its credential may be
   * replaced before the answer arrives.
   */
  readonly key: string | undefined;
}

interface KeepOptions {
  /** The peer's Cache-Control header. */
  readonly cacheControl?: string | undefined;
  /** The return value of `startCall` for this call. */
  readonly start: CallStart;
}

interface Entry {
  readonly owner: string;
  readonly origin: string;
  readonly expiresAt: number;
  readonly number: number;
  readonly answer: ApiAnswer;
}

/**
 * Only calls that change nothing can be answered from the cache, and not those for which the caller requests a fresh
 * answer.
 */
function isSafe(request: ApiRequest): boolean {
  return request.method === 'GET' && !hasDirective(request, FRESH);
}

/** Whether the caller's Cache-Control contains a directive. */
function hasDirective({ headers }: ApiRequest, directive: RegExp): boolean {
  return Object.entries(headers).some(
    ([name, value]) => name.toLowerCase() === 'cache-control' && typeof value === 'string' && directive.test(value),
  );
}

/** RFC 9111 §5.2.2: `max-age` can only shorten our own limit. */
function maxAgeMs(cacheControl: string | undefined): number {
  if (cacheControl === undefined) return Number.POSITIVE_INFINITY;
  if (FRESH.test(cacheControl)) return 0;
  const [, seconds] = /(?:^|[\s,])max-age=(\d{1,9})/i.exec(cacheControl) ?? [];
  return seconds === undefined ? Number.POSITIVE_INFINITY : Number(seconds) * 1000;
}

const FRESH = /(?:^|[\s,])no-(?:store|cache)(?:$|[\s,;=])/i;
const NO_STORE = /(?:^|[\s,])no-store(?:$|[\s,;=])/i;
/** More than the calls that can run at once. */
const MOST_WRITTEN = 10_000;
