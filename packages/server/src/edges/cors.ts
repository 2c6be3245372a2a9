import type { IncomingHttpHeaders } from 'node:http';
import type { Answer } from '../http/route.ts';

/**
 * The CORS headers for pages of other origins (WHATWG Fetch §3.2): those the operator named, each by
 * its own name. Never `*`, and never with cookies: a key identifies the caller, and the page must have been given one.
 */
export class Cors {
  readonly #fields: ReadonlyMap<string, readonly string[]>;
  readonly #forOthers: readonly string[];

  constructor(origins: readonly string[]) {
    this.#fields = new Map(origins.map((origin) => [origin.toLowerCase(), allowing(origin.toLowerCase())]));
    // A cache must not give one origin the answer to another.
    this.#forOthers = origins.length === 0 ? [] : VARY;
  }

  allows(origin: string): boolean {
    return this.#fields.has(origin.toLowerCase());
  }

  /** For every answer; name and value in turn. */
  fields({ origin }: IncomingHttpHeaders): readonly string[] {
    return (origin === undefined ? undefined : this.#fields.get(origin.toLowerCase())) ?? this.#forOthers;
  }

  /** The answer to a CORS preflight; `undefined` for any other request. */
  preflight(headers: IncomingHttpHeaders, methods: readonly string[]): Answer | undefined {
    const { origin, 'access-control-request-method': method } = headers;
    if (origin === undefined || method === undefined || !this.allows(origin) || methods.length === 0) return undefined;
    const isToPrivate = headers['access-control-request-private-network'] === 'true';
    return {
      status: 204,
      headers: {
        'Access-Control-Allow-Methods': methods.join(', '),
        'Access-Control-Allow-Headers': TAKEN,
        'Access-Control-Max-Age': '600',
        // A page of the Internet may call a server on this machine when the operator named the page.
        ...(isToPrivate && { 'Access-Control-Allow-Private-Network': 'true' }),
      },
    };
  }
}

function allowing(origin: string): string[] {
  return ['Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', EXPOSED, ...VARY];
}

const VARY = ['Vary', 'Origin'];
/** Beside those every page may send. */
const TAKEN = 'Accept, Authorization, Content-Type, Idempotency-Key, Last-Event-ID, X-API-Key, X-Session-Id';
/** Beside those every page may read. */
const EXPOSED = [
  'Location',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
].join(', ');
