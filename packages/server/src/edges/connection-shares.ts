import { addressGroup } from './address.ts';

export interface ConnectionSharesOptions {
  /** Connections of all peers together. */
  readonly most: number;
  /** Of one address, or one IPv6 /64. Default: a quarter of `most`. */
  readonly perAddress?: number;
  /** Addresses without their own share, as that of a trusted proxy. */
  readonly isExempt?: (address: string) => boolean;
}

/** Counts open connections, so that one address cannot take every place, and all together at most the limit. */
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
   * A place for a connection from this address; absent for a unix socket. Returns what gives it back, once, or `undefined`
   * if there is no place.
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
