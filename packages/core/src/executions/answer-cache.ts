import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock, Ids } from '../ports/ports.ts';
import { CredentialUse } from '../secrets/credential-use.ts';
import type { ApiAnswer, ApiRequest } from '../workflow/effects.ts';

/**
 * Answers that may stand for the next call of the same kind (A2E, Caching). The key has everything that could make the
 * answer another: who asks, with which version of which credential, and the whole request. What is kept has been through
 * the gate, so no secret is in it.
 */
export class AnswerCache {
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #ttlMs: number;
  readonly #versionOf: (credentialId: string) => string;
  readonly #entries: LRUCache<string, Entry>;
  /** When something was last written, by who wrote and where. */
  readonly #written = new LRUCache<string, number>({ max: MOST_WRITTEN });
  /** When somebody last had all of his forgotten, and when everybody's was. */
  readonly #cleared = new LRUCache<string, number>({ max: MOST_WRITTEN });
  #allCleared = 0;
  #now = 0;
  #asked = 0;

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

  /** The moment, for `keep`: a call that leaves now may be answered with what is true now, and not later. */
  asking(owner: string, request: ApiRequest): Asking {
    this.#asked += 1;
    const key = this.#ttlMs === 0 || request.method !== 'GET' ? undefined : this.#keyOf(owner, request);
    return { at: this.#now, number: this.#asked, key };
  }

  /**
   * Keeps the answer to a call that left at a moment, unless somebody says not to, or something was written there or all was
   * to be forgotten since. Gives it back named, so that what is computed from it can be kept too.
   */
  keep(owner: string, request: ApiRequest, answer: ApiAnswer, { cacheControl, asked }: KeepOptions): ApiAnswer {
    const { status } = answer;
    const ttlMs = Math.min(this.#ttlMs, maxAgeMs(cacheControl));
    if (asked.key === undefined || status < 200 || status > 299) return answer;
    // A fresh answer replaces the one that is kept, also where it may not be kept itself.
    const kept = this.#entries.get(asked.key);
    if (kept !== undefined && kept.number > asked.number) return answer;
    if (ttlMs === 0 || says(request, NO_STORE)) {
      this.#entries.delete(asked.key);
      return answer;
    }
    const origin = new URL(request.url).origin;
    const changed = [this.#written.get(`${owner} ${origin}`), this.#cleared.get(owner), this.#allCleared];
    if (changed.some((at = 0) => at > asked.at)) return answer;
    // A name nobody has used, also before a restart: to hash what is large would hold up everybody.
    const named = { ...answer, lineage: this.#ids.hex() };
    const expiresAt = this.#clock.elapsed() + ttlMs;
    this.#entries.set(asked.key, { owner, origin, expiresAt, number: asked.number, answer: named });
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
    const told = (value: string | CredentialUse) =>
      value instanceof CredentialUse ? { credential: value.id, version: this.#versionOf(value.id) } : value;
    const parts = [
      owner,
      method,
      url,
      query.map(([name, value]) => [name, told(value)]),
      Object.entries(headers)
        .map(([name, value]) => [name.toLowerCase(), told(value)] as const)
        // It asks for another way to get the answer, not for another answer.
        .filter(([name]) => name !== 'cache-control')
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    ];
    return hash('sha256', JSON.stringify(parts), 'base64url');
  }
}

interface AnswerCacheOptions {
  readonly clock: Clock;
  readonly ids: Ids;
  /** 0: nothing is kept. */
  readonly ttlMs: number;
  readonly versionOf: (credentialId: string) => string;
  readonly maxEntries?: number;
  readonly maxBytes?: number;
}

/** A call that leaves. */
interface Asking {
  readonly at: number;
  /** Which of all calls it is. */
  readonly number: number;
  /** Made when it leaves: a credential that is replaced meanwhile is not the one it was answered for. */
  readonly key: string | undefined;
}

interface KeepOptions {
  /** What the peer said of keeping it. */
  readonly cacheControl?: string | undefined;
  /** As it left. */
  readonly asked: Asking;
}

interface Entry {
  readonly owner: string;
  readonly origin: string;
  readonly expiresAt: number;
  readonly number: number;
  readonly answer: ApiAnswer;
}

/** Only what changes nothing may be left out; and a caller may ask for a fresh answer. */
function isSafe(request: ApiRequest): boolean {
  return request.method === 'GET' && !says(request, FRESH);
}

/** What the caller's Cache-Control has in it. */
function says({ headers }: ApiRequest, directive: RegExp): boolean {
  return Object.entries(headers).some(
    ([name, value]) => name.toLowerCase() === 'cache-control' && typeof value === 'string' && directive.test(value),
  );
}

/** RFC 9111 §5.2.2, as far as it makes our own time shorter. */
function maxAgeMs(cacheControl: string | undefined): number {
  if (cacheControl === undefined) return Number.POSITIVE_INFINITY;
  if (FRESH.test(cacheControl)) return 0;
  const [, seconds] = /(?:^|[\s,])max-age=(\d{1,9})/i.exec(cacheControl) ?? [];
  return seconds === undefined ? Number.POSITIVE_INFINITY : Number(seconds) * 1000;
}

const FRESH = /(?:^|[\s,])no-(?:store|cache)(?:$|[\s,;=])/i;
const NO_STORE = /(?:^|[\s,])no-store(?:$|[\s,;=])/i;
/** More than there are calls under way at once. */
const MOST_WRITTEN = 10_000;
