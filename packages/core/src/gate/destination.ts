import { isIP } from 'node:net';
import { type Failure, failure, show } from '@dragoman/protocols';
import { judgeAddress } from './address.ts';
import type { AllowList } from './gate.ts';
import { judgeHostName, type NameFault } from './host-name.ts';
import { type HostPort, hostPortOf, nameOfHostPort } from './host-port.ts';

/** The destination of a request, from its URL. */
export interface Destination extends HostPort {
  readonly url: URL;
  /** Whether the connection uses TLS. */
  readonly isSecure: boolean;
  /** Whether the operator allows this host and port. */
  readonly isAllowed: boolean;
  /** Set if the host is an address, so that nothing has to be looked up. */
  readonly address: string | undefined;
}

/** Private or plain-http hosts that the operator allows, by name and port, and their list. */
export interface AllowedHosts {
  readonly list: AllowList;
  has(name: string): boolean;
}

export function allowedHosts(hosts: Iterable<HostPort>): ReadonlySet<string> {
  return new Set([...hosts].map(nameOfHostPort));
}

/**
 * Judges a URL before anything is looked up. The host is judged as the WHATWG parser returns it, not as it was written:
 * `0x7f.1`, `①②⑦.0.0.1` and `127.0.0.1` are the same.
 */
export function judgeUrl(text: string, url: URL | undefined, allowed: AllowedHosts): Destination | Failure {
  if (url === undefined) return invalid(`must be an absolute URL; got ${show(text.slice(0, 200))}`);
  const secure = SECURE[url.protocol];
  if (secure === undefined)
    return refused(`only https is allowed; got ${show(url.protocol.slice(0, 40))}`, 'call it by https');
  if (url.username !== '' || url.password !== '')
    return refused('the URL contains a user name or password', 'use a credential in a header instead');
  const host = url.hostname;
  const literal = host.startsWith('[') ? host.slice(1, -1) : host;
  const { port } = hostPortOf(url);
  const isAllowed = allowed.has(nameOfHostPort({ host, port }));
  const address = isIP(literal) === 0 ? undefined : literal;
  const fault = isAllowed ? undefined : faultOf({ host, address, port, secure });
  if (fault !== undefined) return refused(fault.why, fault.help ?? wayOut({ host, port }, allowed.list));
  return { url, host, port, isSecure: secure, isAllowed, address };
}

export function isDestination(judged: Destination | Failure): judged is Destination {
  return 'url' in judged;
}

interface Judged {
  readonly host: string;
  readonly address: string | undefined;
  readonly port: number;
  readonly secure: boolean;
}

function faultOf({ host, address, port, secure }: Judged): NameFault | undefined {
  if (address === undefined) {
    const nameFault = judgeHostName(host);
    if (nameFault !== undefined) return nameFault;
  } else {
    const addressFault = judgeAddress(address);
    if (addressFault !== undefined) return { why: `its host is ${addressFault.why}` };
  }
  if (port === 0) return { why: 'port 0 is not a valid destination', help: 'use the port of a web server, or omit it' };
  if (!secure) return { why: 'plain http is allowed only for hosts that the operator allows' };
  const isWebPort = port === 443 || (port >= 1024 && !SERVICE_PORTS.has(port));
  return isWebPort ? undefined : { why: `port ${port} is not a web server port` };
}

function refused(why: string, suggestion: string): Failure {
  return failure('forbidden', { suggestions: [suggestion] }, `Outbound request blocked: ${why}.`);
}

/** What to do about a refused URL: the operator can allow its host if the URL is intended. */
function wayOut(refused: HostPort, list: AllowList): string {
  return `use a public https URL, or ask the operator to ${OPENS[list](nameOfHostPort(refused))}`;
}

const OPENS: Readonly<Record<AllowList, (host: string) => string>> = {
  allow: (host) => `add ${host} to gate.allow`,
  callbacks: (host) => `add ${host} to gate.callbacks`,
  none: (host) => `register the URL as an API and add ${host} to gate.allow`,
};

function invalid(what: string): Failure {
  return failure('invalid_message', { issues: [{ pointer: '/url', code: 'url', message: `url ${what}` }] });
}

/** The allowed schemes, and whether the connection is secure. */
const SECURE: Readonly<Record<string, boolean>> = { 'https:': true, 'http:': false, 'wss:': true, 'ws:': false };

/** Ports above 1023 where something other than a web server listens: those that browsers refuse. */
const SERVICE_PORTS: ReadonlySet<number> = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080,
]);
