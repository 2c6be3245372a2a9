import type { IncomingHttpHeaders } from 'node:http';
import type { BlockList } from 'node:net';
import type { Principal } from '@dragoman/core';
import { type Failure, failure } from '@dragoman/protocols';
import { isFailure } from '../http/problem.ts';
import type { Access } from '../http/route.ts';
import { callerAddress, isInList, proxyList } from './address.ts';
import { Cors } from './cors.ts';
import { HostNames } from './host-names.ts';

export interface BoundaryOptions {
  /**
   * The values of `Host` that this server accepts: `localhost` for any port, or `localhost:7420` for one. Always
   * checked.
   */
  readonly hosts: readonly string[];
  /** Other origins whose pages may call, such as `https://console.example.com`. The server's own origin always may. */
  readonly origins?: readonly string[];
  /** Proxies whose `X-Forwarded-For` is believed: addresses or networks. */
  readonly proxies?: readonly string[];
  /** Finds the owner of a key that was sent from an address. */
  readonly authenticate: (key: string, address: string) => Principal | Failure | Promise<Principal | Failure>;
}

/** Access checks, the same for HTTP requests and WebSocket upgrades. */
export class Boundary {
  readonly cors: Cors;
  readonly #options: BoundaryOptions;
  readonly #hosts: HostNames;
  readonly #proxies: BlockList;

  constructor(options: BoundaryOptions) {
    this.#options = options;
    this.#hosts = new HostNames(options.hosts);
    this.cors = new Cors(options.origins ?? []);
    this.#proxies = proxyList(options.proxies ?? []);
  }

  address(peer: string | undefined, headers: IncomingHttpHeaders): string {
    const forwarded = headers['x-forwarded-for'];
    return callerAddress(peer, typeof forwarded === 'string' ? forwarded : undefined, this.#proxies);
  }

  /**
   * The base URL that the client used. A trusted proxy reports it with `X-Forwarded-Proto`, `-Host` and `-Prefix`. A
   * reported host must be one of the server's names, too.
   */
  baseUrl(peer: string | undefined, headers: IncomingHttpHeaders): string {
    const { host = '' } = headers;
    if (!isInList(this.#proxies, peer ?? '')) return `http://${host}`;
    // Each proxy appends its own value behind a comma; the first value is what the client used.
    const forwarded = (name: string) =>
      String(headers[`x-forwarded-${name}`] ?? '')
        .split(',')[0]
        ?.trim() ?? '';
    const name = forwarded('host');
    const prefix = forwarded('prefix').replace(/\/$/, '');
    const scheme = forwarded('proto') === 'https' ? 'https' : 'http';
    return `${scheme}://${this.#hosts.has(name) ? name : host}${/^(?:\/[\w~-][\w.~-]*){0,8}$/.test(prefix) ? prefix : ''}`;
  }

  /**
   * Refuses a request that was not meant for this server. A page of another site cannot hide its Origin, and a name
   * that was made to point here (DNS rebinding) cannot hide the Host.
   */
  refuseSender({ host, origin }: IncomingHttpHeaders): Failure | undefined {
    if (host === undefined || host.includes(',')) return NO_HOST;
    if (!this.#hosts.has(host)) return WRONG_HOST;
    if (origin === undefined) return undefined;
    const site = origin.toLowerCase();
    // The Host has been checked, so a page of the same host is ours, whether or not TLS ends at a proxy.
    const name = host.toLowerCase();
    const own = site === `http://${name}` || site === `https://${name}`;
    return own || this.cors.allows(site) ? undefined : WRONG_ORIGIN;
  }

  /** The caller; `undefined` if the route requires none and no key was sent; or the failure. */
  identify({ headers, offeredKey, address, access }: Caller): Identified | Promise<Identified> {
    if (access === 'public') return undefined;
    const key = presentedKey(headers, offeredKey);
    if (key === undefined) return access === 'open' ? undefined : NO_KEY;
    if (typeof key !== 'string') return key;
    const found = this.#options.authenticate(key, address);
    return found instanceof Promise
      ? found.then((principal) => inItsRole(principal, access))
      : inItsRole(found, access);
  }
}

export type Identified = Principal | Failure | undefined;

export interface Caller {
  readonly headers: IncomingHttpHeaders;
  /** A key that was sent elsewhere than in the headers for keys, such as in a WebSocket subprotocol. */
  readonly offeredKey?: string | undefined;
  readonly address: string;
  readonly access: Access;
}

/** An admin key is not valid for the routes of agents, and an agent's key not for those of the administration. */
function inItsRole(found: Principal | Failure, access: Access): Principal | Failure {
  if (isFailure(found)) return found;
  if (access === 'admin' && found.kind !== 'admin') return ADMIN_ONLY;
  if (access === 'agent' && found.kind !== 'agent') return AGENT_ONLY;
  return found;
}

/** The key of a request, or a failure if the key is malformed or there are two different keys. */
function presentedKey(headers: IncomingHttpHeaders, offered: string | undefined): string | undefined | Failure {
  const { authorization } = headers;
  const apiKey = headers['x-api-key'] ?? offered;
  if (typeof apiKey === 'string' && offered !== undefined && apiKey !== offered) return TWO_KEYS;
  if (authorization === undefined) return typeof apiKey === 'string' ? apiKey : undefined;
  const bearer = bearerKey(authorization);
  if (bearer === undefined) return NO_BEARER;
  return apiKey === undefined || apiKey === bearer ? bearer : TWO_KEYS;
}

/** RFC 6750 §2.1. Two Authorization fields arrive as one with a comma. */
function bearerKey(authorization: string): string | undefined {
  if (authorization.slice(0, 7).toLowerCase() !== 'bearer ') return undefined;
  const key = authorization.slice(7).trim();
  return key === '' || key.includes(' ') || key.includes(',') ? undefined : key;
}

const NO_HOST = failure('invalid_message', {}, 'The request must have exactly one Host header.');
const WRONG_HOST = failure(
  'forbidden',
  { suggestions: ['Use a host name that this server is configured for, or add this one to `allowed_hosts`.'] },
  'The Host header does not name this server.',
);
const WRONG_ORIGIN = failure(
  'forbidden',
  { suggestions: ['Add the origin to `allowed_origins`.'] },
  'This Origin may not call this server.',
);
const KEY_HINT = { suggestions: ['Send the key as `Authorization: Bearer KEY` or `X-API-Key: KEY`.'] };
const NO_KEY = failure('unauthenticated', KEY_HINT);
const NO_BEARER = failure('unauthenticated', KEY_HINT, 'The Authorization header must be `Bearer KEY`.');
const TWO_KEYS = failure('unauthenticated', {}, 'The request has two different API keys.');
const ADMIN_ONLY = failure('forbidden', {}, 'This route requires an admin key.');
const AGENT_ONLY = failure('forbidden', {}, "This route requires an agent's key, not an admin key.");
