import { addressGroup } from './address.ts';

export interface ConnectionSharesOptions {
  /** Connections of all peers together. */
  readonly most: number;
  /** Connections of one IPv4 address or one IPv6 /64. Default: a quarter of `most`. */
  readonly perAddress?: number;
  /** Whether an address has no limit of its own, such as that of a trusted proxy. */
  readonly isExempt?: (address: string) => boolean;
}

/** Counts open connections, and limits their number in total and for each address. */
export class ConnectionShares {
  readonly #most: number;
  readonly #perAddress: number;
  readonly #isExempt: (address: string) => boolean;
  readonly #byAddress = new Map<string, number>();
  #size = 0;

  constructor({ most, perAddress = Math.ceil(most / 4), isExempt = () => false }: ConnectionSharesOptions) {
    this.#most = most;
    this.#perAddress = perAddress;
    this.#isExempt = isExempt;
  }

  get size(): number {
    return this.#size;
  }

  /**
   * Takes a place for a connection from this address, which is `undefined` for a unix socket. Returns a function that
   * gives the place back, to be called once, or `undefined` if no place is left.
   */
  take(address: string | undefined): (() => void) | undefined {
    if (this.#size >= this.#most) return undefined;
    const group = address === undefined || this.#isExempt(address) ? undefined : addressGroup(address);
    if (group !== undefined) {
      const taken = this.#byAddress.get(group) ?? 0;
      if (taken >= this.#perAddress) return undefined;
      this.#byAddress.set(group, taken + 1);
    }
    this.#size += 1;
    return () => this.#giveBack(group);
  }

  #giveBack(group: string | undefined): void {
    this.#size -= 1;
    if (group === undefined) return;
    const left = (this.#byAddress.get(group) ?? 1) - 1;
    if (left === 0) this.#byAddress.delete(group);
    else this.#byAddress.set(group, left);
  }
}
