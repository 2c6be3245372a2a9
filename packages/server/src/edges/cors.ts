import type { IncomingHttpHeaders } from 'node:http';
import type { Answer } from '../http/route.ts';

/**
 * The CORS headers for pages of other origins (WHATWG Fetch §3.2), which the operator names one by one. They never
 * contain `*` and never allow cookies: a key identifies the caller, and the page must have been given one.
 */
export class Cors {
  readonly #fields: ReadonlyMap<string, readonly string[]>;
  readonly #forOthers: readonly string[];

  constructor(origins: readonly string[]) {
    this.#fields = new Map(origins.map((origin) => [origin.toLowerCase(), allowing(origin.toLowerCase())]));
    // Without Vary, a cache could give one origin the answer to another.
    this.#forOthers = origins.length === 0 ? [] : VARY;
  }

  allows(origin: string): boolean {
    return this.#fields.has(origin.toLowerCase());
  }

  /** The header fields for every answer: name, value, name, value. */
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
        // WICG Private Network Access: a page of the Internet may call a server on this machine if the operator named
        // its origin.
        ...(isToPrivate && { 'Access-Control-Allow-Private-Network': 'true' }),
      },
    };
  }
}

function allowing(origin: string): string[] {
  return ['Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', EXPOSED, ...VARY];
}

const VARY = ['Vary', 'Origin'];
/** The request headers that pages may send, beside those that every page may send. */
const TAKEN = 'Accept, Authorization, Content-Type, Idempotency-Key, Last-Event-ID, X-API-Key, X-Session-Id';
/** The response headers that pages may read, beside those that every page may read. */
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
