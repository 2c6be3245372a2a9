import { isIP } from 'node:net';

/**
 * The values of `Host` that a server accepts: `localhost` for any port, `localhost:7420` for one port, an IPv6 address
 * with or without its brackets. A server that listens on every address accepts every address, too: the check is against
 * names that somebody else made to point here (DNS rebinding), and an address is not a name.
 */
export class HostNames {
  readonly #names: ReadonlySet<string>;
  readonly #takesAddresses: boolean;
  /** The last accepted value, as it was written, because most requests have the same. */
  #good: string | undefined;

  constructor(names: readonly string[]) {
    this.#names = new Set(names.map(normalized));
    this.#takesAddresses = EVERYWHERE.some((name) => this.#names.has(name));
  }

  has(host: string): boolean {
    if (host === this.#good) return true;
    const name = host.toLowerCase();
    const bare = HOST.exec(name)?.[1];
    if (bare === undefined) return false;
    const isOurs = this.#names.has(name) || this.#names.has(bare) || (this.#takesAddresses && isAddress(bare));
    if (isOurs) this.#good = host;
    return isOurs;
  }
}

function normalized(name: string): string {
  return isIP(name) === 6 ? `[${name.toLowerCase()}]` : name.toLowerCase();
}

function isAddress(host: string): boolean {
  return isIP(host) === 4 || (host.startsWith('[') && isIP(host.slice(1, -1)) === 6);
}

const EVERYWHERE = ['0.0.0.0', '[::]'];
/** RFC 9110 §7.2: a name or a bracketed address, and a port of digits. Group 1 is without the port. */
const HOST = /^(\[[^[\]]+\]|[^:[\]]+)(?::\d{1,5})?$/;
