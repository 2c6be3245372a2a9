import { isIPv4, type Socket } from 'node:net';
import { type Failure, failure } from '@dragoman/protocols';
import type { buildConnector } from 'undici';
import { abortSignalOf, type StopSignal } from '../ending/ending.ts';
import { unlessAborted } from '../ending/until-aborted.ts';
import { LimitedLog } from '../ports/limited-log.ts';
import type { Clock, Log } from '../ports/ports.ts';
import { failureOf, Refused } from '../refusals/refused.ts';
import { judgeAddress } from './address.ts';
import { ask, type Outbound } from './ask.ts';
import { connectFault } from './connect-fault.ts';
import { Deadline } from './deadline.ts';
import { type AllowedHosts, allowedHosts, type Destination, isDestination, judgeUrl } from './destination.ts';
import { Dialler } from './dialler.ts';
import type { EgressEntry, EgressLog } from './egress-log.ts';
import type { AllowList, Gate, InboundAnswer, OutboundRequest } from './gate.ts';
import { notLookedUp, unreachableHost } from './gate-failure.ts';
import { type HostPort, hostPortOf, nameOfHostPort } from './host-port.ts';
import { credentialsIn, type Fill, filledBody, filledHeaders, filledPath, type PlacedCredential } from './injection.ts';
import { KnownUrls } from './known-urls.ts';
import { DEFAULT_GATE_LIMITS, type GateLimits } from './limits.ts';
import { Names } from './names.ts';
import { outboundHeaders } from './outbound-headers.ts';
import { Pools } from './pools.ts';
import { everyRedactor, ownRedactor, type Redactor } from './redactor.ts';
import { isPassingLookup, type Lookup, type Resolve } from './resolver.ts';
import type { ReleasedSecrets, Secrets } from './secrets.ts';

export interface GateOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Private or plain-http hosts for the operator's own destinations, by name and port. */
  readonly allow?: readonly HostPort[];
  /** Private or plain-http hosts for URLs that callers give. */
  readonly callbacks?: readonly HostPort[];
  /** Certificates to trust beside the usual ones, as PEM. */
  readonly ca?: readonly string[];
  /** Without it no credential can be used. */
  readonly secrets?: Secrets;
  /** Replaces name resolution. */
  readonly resolve?: Resolve;
  readonly limits?: Partial<GateLimits>;
  /** Records sent and refused requests. */
  readonly egress?: EgressLog;
}

/** Opens the gate over real sockets. */
export function openGate({
  clock,
  log,
  allow = [],
  callbacks = [],
  ca = [],
  secrets,
  resolve,
  limits: given = {},
  egress,
}: GateOptions): NetworkGate {
  const limits = { ...DEFAULT_GATE_LIMITS, ...given };
  const dialler = new Dialler({ clock, ca, connectMs: limits.connect_ms });
  const parts: Parts = {
    clock,
    log: new LimitedLog({ log, clock }),
    secrets,
    egress,
    dialler,
    limits,
    urls: new KnownUrls(),
    names: new Names({ clock, withinMs: limits.connect_ms, forMs: limits.resolved_ms, resolve }),
    pools: new Pools({ connect: ({ address }) => connectorTo(address, dialler), limits }),
    allowed: allowed({ allow, callbacks }),
  };
  return new NetworkGate(parts);
}

export class NetworkGate implements Gate, AsyncDisposable {
  readonly #parts: Parts;
  readonly #also: ReadonlySet<string>;
  readonly #lists: Readonly<Record<AllowList, AllowedHosts>>;

  constructor(parts: Parts, also: ReadonlySet<string> = new Set()) {
    this.#parts = parts;
    this.#also = also;
    this.#lists = {
      allow: { list: 'allow', has: (name) => parts.allowed.allow.has(name) || also.has(name) },
      callbacks: { list: 'callbacks', has: (name) => parts.allowed.callbacks.has(name) },
      none: { list: 'none', has: () => false },
    };
  }

  /** The same gate with these hosts added to `gate.allow`. Only for hosts that the operator names. */
  allowing(hosts: readonly HostPort[]): NetworkGate {
    return new NetworkGate(this.#parts, new Set([...this.#also, ...allowedHosts(hosts)]));
  }

  /** Replaces both lists of private or plain-http hosts. */
  allowOnly(lists: AllowedLists): void {
    Object.assign(this.#parts.allowed, allowed(lists));
  }

  request(request: OutboundRequest): Promise<InboundAnswer> {
    const { method, url, caller } = request;
    return this.#noted({ method, url, caller }, this.#request(request), ({ status }) => status);
  }

  async #request(request: OutboundRequest): Promise<InboundAnswer> {
    const { signal, timeoutMs, caller } = request;
    if (signal?.aborted === true) throw signal.reason;
    const destination = this.#judge(request.url, { schemes: WEB, caller, allowList: request.allowList });
    const uses = credentialsIn(request);
    const use = { caller, to: destination, purpose: request.purpose };
    if (uses.length > 0) this.#secrets().admit(uses, use);
    const bound = new Deadline({ clock: this.#parts.clock, milliseconds: timeoutMs, signal });
    try {
      const { address } = destination;
      const addresses =
        address === undefined ? await this.#addressesOf(destination, { caller, bound, signal }) : [address];
      const released = uses.length === 0 ? undefined : await bound.wait(this.#secrets().release(uses, use));
      return await this.#ask(request, destination, { addresses, released, bound });
    } catch (error) {
      bound.release();
      // The duration of a refusal must not reveal whether something exists.
      if (failureOf(error)?.code === 'unreachable' && !destination.isAllowed) await this.#dawdle(signal);
      throw error;
    }
  }

  async check(url: string, allowList: AllowList): Promise<Failure | undefined> {
    const refused = await this.#check(url, allowList);
    if (refused !== undefined) {
      const { egress, clock, urls } = this.#parts;
      const host = urls.read(url)?.host ?? 'an invalid URL';
      const checked = { caller: '', method: 'CHECK', host, status: null, milliseconds: 0 };
      egress?.add({ ...checked, at: clock.now().getTime(), outcome: 'refused', reason: refused.message });
    }
    return refused;
  }

  async #check(url: string, allowList: AllowList): Promise<Failure | undefined> {
    try {
      const destination = this.#judge(url, { schemes: WEB, allowList });
      if (destination.address !== undefined) return undefined;
      const answers = await this.#lookUp(destination).answers.catch((error: unknown) => {
        if (isPassingLookup(error)) return undefined;
        throw this.#unreachableHost(destination, undefined, connectFault(error));
      });
      if (answers !== undefined) this.#judgeAnswers(answers, destination, undefined);
      return undefined;
    } catch (error) {
      const refused = failureOf(error);
      if (refused === undefined) throw error;
      return refused;
    }
  }

  /** Why a URL is refused, without looking up its host: for a URL that may never be called. */
  judge(url: string, allowList: AllowList): Failure | undefined {
    try {
      this.#judge(url, { schemes: WEB, allowList });
      return undefined;
    } catch (error) {
      return failureOf(error);
    }
  }

  /** A connection for another protocol than HTTP requests, such as WebSocket; for `wss` with TLS in place. */
  dial(dial: Dial): Promise<Socket> {
    return this.#noted({ ...dial, method: 'CONNECT' }, this.#dial(dial), () => null);
  }

  /** Records the outcome of a request in the egress log. */
  async #noted<T>({ method, url, caller }: Noted, work: Promise<T>, statusOf: (value: T) => number | null): Promise<T> {
    const { egress, clock, urls } = this.#parts;
    if (egress === undefined) return work;
    const began = clock.elapsed();
    const at = clock.now().getTime();
    const host = urls.read(url)?.host ?? 'an invalid URL';
    const note = (outcome: EgressEntry['outcome'], status: number | null, reason: string | null) =>
      egress.add({ at, caller, method, host, outcome, status, reason, milliseconds: clock.elapsed() - began });
    try {
      const value = await work;
      note('answered', statusOf(value), null);
      return value;
    } catch (error) {
      const known = failureOf(error);
      const outcome = known !== undefined && NEVER_SENT.has(known.code) ? 'refused' : 'failed';
      note(outcome, null, known?.message ?? 'It was cancelled.');
      throw error;
    }
  }

  async #dial({ url, allowList, caller, signal }: Dial): Promise<Socket> {
    const destination = this.#judge(url, { schemes: SOCKETS, caller, allowList });
    const addresses = await this.#addressesOf(destination, { caller });
    for (const [index, address] of addresses.entries()) {
      const tls = destination.isSecure ? { host: destination.host } : undefined;
      const dialled = this.#parts.dialler.dial({ address, port: destination.port, tls });
      // A connection that is no longer needed is closed.
      dialled.then((socket) => signal?.aborted && socket.destroy()).catch(() => {});
      try {
        return await (signal === undefined ? dialled : unlessAborted(dialled, signal));
      } catch (error) {
        signal?.throwIfAborted();
        if (index === addresses.length - 1) throw this.#unreachableHost(destination, caller, connectFault(error));
      }
    }
    throw this.#unreachableHost(destination, caller, NO_ADDRESSES);
  }

  /**
   * Releases secrets for messages on a dialled connection. They are bound to the host, and their use is recorded, as
   * for a request.
   */
  async release(uses: readonly PlacedCredential[], { url, allowList, caller, purpose }: Release): Promise<Fill> {
    const to = this.#judge(url, { schemes: SOCKETS, caller, allowList });
    return (await this.#secrets().release(uses, { caller, to, purpose })).fill;
  }

  /** Records the attempt to send this host a credential without permission. */
  noteRefusal(id: string, { url, caller, purpose }: Omit<Release, 'allowList'>): void {
    this.#parts.secrets?.noteRefusal(id, { caller, to: hostPortOf(new URL(url)), purpose });
  }

  /** Replaces the secrets that the host of a connection could send back. */
  redactorFor(url: URL): Redactor | undefined {
    return this.#parts.secrets?.redactorFor(hostPortOf(url));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.pools[Symbol.asyncDispose]();
  }

  #judge(url: string, { schemes, caller, allowList }: Judging): Destination {
    const judged = judgeUrl(url, this.#parts.urls.read(url), this.#lists[allowList]);
    if (!isDestination(judged)) {
      this.#parts.log.write('warn', { caller, reason: judged.message }, 'the gate refused a URL');
      throw new Refused(judged);
    }
    if (schemes.has(judged.url.protocol)) return judged;
    throw new Refused(failure('invalid_message', {}, `The URL must be one of ${[...schemes].join(', ')}.`));
  }

  /** The system looks up hosts that the operator chose, as it does for the operator's other programs. */
  #lookUp({ host, isAllowed }: Destination): Lookup {
    return this.#parts.names.lookUp(host, { isChosen: isAllowed });
  }

  /** The judged addresses of a destination. */
  async #addressesOf(
    destination: Destination,
    { caller, bound, signal }: { caller: string; bound?: Deadline; signal?: StopSignal | undefined },
  ): Promise<readonly string[]> {
    if (destination.address !== undefined) return [destination.address];
    const lookup = this.#lookUp(destination);
    const answers = await (bound?.wait(lookup.answers) ?? lookup.answers).catch((error: unknown) => {
      if (signal?.aborted === true) throw error;
      // The host is not at fault if its lookup never started.
      if (!lookup.hasStarted) throw this.#notLookedUp(destination, caller);
      throw failureOf(error) === undefined ? this.#unreachableHost(destination, caller, connectFault(error)) : error;
    });
    this.#judgeAnswers(answers, destination, caller);
    return someOf(answers);
  }

  /** One forbidden address blocks the name, because mixed answers are suspicious. */
  #judgeAnswers(answers: readonly string[], destination: Destination, caller: string | undefined): void {
    if (answers.length === 0) throw this.#unreachableHost(destination, caller, NO_ADDRESSES);
    for (const answer of answers) {
      const fault = judgeAddress(answer);
      if (fault === undefined || (destination.isAllowed && fault.byName)) continue;
      throw this.#unreachableHost(destination, caller, `its name resolves to ${fault.why}`);
    }
  }

  async #ask(
    request: OutboundRequest,
    { url, port, host, isSecure, isAllowed }: Destination,
    {
      addresses,
      released,
      bound,
    }: { addresses: readonly string[]; released: ReleasedSecrets | undefined; bound: Deadline },
  ): Promise<InboundAnswer> {
    const { method, caller, maxBytes } = request;
    const { limits, clock } = this.#parts;
    const fill = released?.fill ?? noSecret;
    const redactor = redactorOf(request, this.#parts.secrets?.redactorFor({ host, port }));
    const outbound: Outbound = {
      method,
      path: filledPath(url, request, fill),
      headers: outboundHeaders(filledHeaders(request, fill), request.body, limits),
      body: filledBody(request, fill, released !== undefined),
    };
    for (const [index, address] of addresses.entries()) {
      const key = { caller, credentials: released?.key ?? '', origin: url.origin, address };
      try {
        const found = this.#parts.pools.get(key);
        const pool = found instanceof Promise ? await bound.wait(found) : found;
        const milliseconds = patienceMs({ leftMs: bound.leftMs, addresses: addresses.length - index });
        const patience = milliseconds === undefined ? undefined : { clock, milliseconds };
        return await ask(pool, outbound, { maxBytes, redactor, bound, limits, patience });
      } catch (error) {
        if (failureOf(error)?.code !== 'unreachable') throw error;
        if (index < addresses.length - 1) continue;
        const reason = String(failureOf(error)?.details['reason']);
        throw this.#unreachableHost({ url, port, host, isSecure, isAllowed, address }, caller, reason);
      }
    }
    throw new Error('there is always an address to ask');
  }

  /** Logs the reason for the operator. The caller learns it only about hosts that the operator allows. */
  #unreachableHost(destination: Destination, caller: string | undefined, reason: string): Refused {
    const host = nameOfHostPort(destination);
    this.#parts.log.write('warn', { caller, host, reason }, 'a host could not be reached');
    return new Refused(unreachableHost(destination.isAllowed ? reason : undefined));
  }

  /** Callers may learn this reason, because it reveals nothing about the host. */
  #notLookedUp(destination: Destination, caller: string | undefined): Refused {
    const host = nameOfHostPort(destination);
    this.#parts.log.write('warn', { caller, host }, 'a name was not looked up: too many others are being looked up');
    return new Refused(notLookedUp());
  }

  async #dawdle(signal: StopSignal | undefined): Promise<void> {
    await this.#parts.clock.wait(Math.random() * MOST_DAWDLE_MS, signal && abortSignalOf(signal));
  }

  #secrets(): Secrets {
    if (this.#parts.secrets !== undefined) return this.#parts.secrets;
    throw new Refused(failure('forbidden', {}, 'Credentials cannot be used here: there is no vault.'));
  }
}

export interface AllowedLists {
  readonly allow: readonly HostPort[];
  readonly callbacks: readonly HostPort[];
}

interface Judging {
  readonly schemes: ReadonlySet<string>;
  readonly allowList: AllowList;
  readonly caller?: string;
}

interface Dial {
  readonly url: string;
  readonly allowList: AllowList;
  readonly caller: string;
  readonly signal?: AbortSignal;
}

interface Release {
  readonly url: string;
  readonly allowList: AllowList;
  readonly caller: string;
  /** The request or operation that uses the secrets. */
  readonly purpose: string;
}

interface Parts {
  readonly clock: Clock;
  readonly log: LimitedLog;
  readonly secrets: Secrets | undefined;
  readonly egress: EgressLog | undefined;
  readonly dialler: Dialler;
  readonly names: Names;
  readonly pools: Pools;
  readonly limits: GateLimits;
  readonly urls: KnownUrls;
  /** The allowed hosts, by list; gates made with `allowing` share it. */
  readonly allowed: Allowed;
}

type Allowed = { [List in keyof AllowedLists]: ReadonlySet<string> };

function allowed({ allow, callbacks }: AllowedLists): Allowed {
  return { allow: allowedHosts(allow), callbacks: allowedHosts(callbacks) };
}

/** Replaces the secrets that the vault could have sent to this host, and those in the request's own headers. */
function redactorOf({ headers = {} }: OutboundRequest, ofVault: Redactor | undefined): Redactor | undefined {
  return everyRedactor([ofVault, ...Object.values(headers).map(ownRedactor)]);
}

function connectorTo(address: string, dialler: Dialler): buildConnector.connector {
  return ({ protocol, port, hostname }, callback) => {
    const isSecure = protocol === 'https:';
    const tls = isSecure ? { host: hostname } : undefined;
    dialler.dial({ address, port: Number(port) || (isSecure ? 443 : 80), tls }).then(
      (socket) => callback(null, socket),
      (error: Error) => callback(error, null),
    );
  };
}

/** The first addresses of each family: a name can have thousands, and its owner could make us try them all. */
function someOf(addresses: readonly string[]): readonly string[] {
  if (addresses.length <= MOST_OF_A_KIND) return addresses;
  const [four, six] = [addresses.filter(isIPv4), addresses.filter((address) => !isIPv4(address))];
  return [...four.slice(0, MOST_OF_A_KIND), ...six.slice(0, MOST_OF_A_KIND)];
}

/**
 * How long to wait for a connection to one address, so that time is left for the next; `undefined`, no limit, for the
 * last.
 */
function patienceMs({ leftMs, addresses }: { leftMs: number; addresses: number }): number | undefined {
  return addresses === 1 ? undefined : Math.min(MOST_PATIENCE_MS, leftMs / Math.min(addresses, MOST_OF_A_KIND));
}

function noSecret(): never {
  throw new Error('a secret was requested that was not released');
}

type Noted = Pick<OutboundRequest, 'url' | 'caller'> & { readonly method: string };

/** Failures of requests that were not sent. */
const NEVER_SENT: ReadonlySet<string> = new Set(['forbidden', 'invalid_message']);
const WEB: ReadonlySet<string> = new Set(['https:', 'http:']);
const SOCKETS: ReadonlySet<string> = new Set(['wss:', 'ws:']);
const MOST_DAWDLE_MS = 50;
const MOST_OF_A_KIND = 4;
const MOST_PATIENCE_MS = 3000;
const NO_ADDRESSES = 'its name does not resolve to an address';
