import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock, Ids } from '../ports/ports.ts';
import { CredentialUse } from '../secrets/credential-use.ts';
import type { ApiAnswer, ApiRequest } from '../workflow/effects.ts';

/**
 * Answers that may be reused for the next call of the same kind (A2E, Caching). The key has everything that could make the
 * answer differ: the caller, the version of each credential, and the whole request. Cached answers have been through
 * the gate, so they contain no secrets.
 */
export class AnswerCache {
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #ttlMs: number;
  readonly #versionOf: (credentialId: string) => string;
  readonly #entries: LRUCache<string, Entry>;
  /** When a caller last wrote to an origin. */
  readonly #written = new LRUCache<string, number>({ max: MOST_WRITTEN });
  /** When the cache of an owner was last cleared, and when all of it was. */
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

  /** Marks the start of a call, for `keep`: its answer must not be kept if something is written to that origin later. */
  startCall(owner: string, request: ApiRequest): CallStart {
    this.#calls += 1;
    const key = this.#ttlMs === 0 || request.method !== 'GET' ? undefined : this.#keyOf(owner, request);
    return { at: this.#now, number: this.#calls, key };
  }

  /**
   * Keeps the answer to a call, unless the caller or the peer forbids it, or since the start of the call something was
   * written there or the cache was cleared. Returns the answer with a name, so that values computed from it can be cached too.
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
    // A name that was never used, not even before a restart. Hashing a large answer would block other requests.
    const named = { ...answer, lineage: this.#ids.hex() };
    const expiresAt = this.#clock.elapsed() + ttlMs;
    this.#entries.set(start.key, { owner, origin, expiresAt, number: start.number, answer: named });
    return named;
  }

  /** Something was written there: what was read from there before may be wrong now. */
  forgetOrigin(owner: string, url: string): void {
    const { origin } = new URL(url);
    this.#now += 1;
    this.#written.set(`${owner} ${origin}`, this.#now);
    this.#forget((entry) => entry.owner === owner && entry.origin === origin);
  }

  /** How many were forgotten. */
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

/** A call that is being sent. */
interface CallStart {
  readonly at: number;
  /** The number of the call, counted from 1. */
  readonly number: number;
  /** Computed when the call is sent, because its credential may be replaced before the answer arrives. */
  readonly key: string | undefined;
}

interface KeepOptions {
  /** The peer's Cache-Control header. */
  readonly cacheControl?: string | undefined;
  /** What `startCall` returned for this call. */
  readonly start: CallStart;
}

interface Entry {
  readonly owner: string;
  readonly origin: string;
  readonly expiresAt: number;
  readonly number: number;
  readonly answer: ApiAnswer;
}

/** Only calls that change nothing can be answered from the cache, and a caller may request a fresh answer. */
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
