import type { Principal } from '../call/principal.ts';

export interface ConnectionPlacesOptions {
  /** Of all together. */
  readonly maxConnections: number;
  /** Of one caller, and before they are known of all from one address; never more than a quarter of all. */
  readonly maxPerCaller?: number | undefined;
}

/** The slots of one connection. */
export interface ConnectionPlace {
  /** Counts it as this caller's from now on; false when the caller has as many as one may have. */
  belongsTo(principal: Principal): boolean;
  /** Once, when the connection is over. */
  giveBack(): void;
}

/**
 * How many connections each caller has, or all unproven peers of an address together. Neither may have more
 * than its share, so that one does not take every place there is.
 */
export class ConnectionPlaces {
  readonly #share: number;
  /** Only holders with slots, because addresses are unbounded. */
  readonly #taken = new Map<string, number>();

  constructor({ maxConnections, maxPerCaller = maxConnections }: ConnectionPlacesOptions) {
    // A key and an address of the same peer are two shares, and still leave half of all to others.
    this.#share = Math.min(maxPerCaller, Math.ceil(maxConnections / 4));
  }

  /** For a proven caller, or for an unproven peer of an address. `undefined` when their share is taken. */
  take(principal: Principal | undefined, address: string): ConnectionPlace | undefined {
    let holder = principal === undefined ? `address ${address}` : callerOf(principal);
    if (!this.#add(holder)) return undefined;
    return {
      belongsTo: (known) => {
        const caller = callerOf(known);
        if (caller === holder) return true;
        if (!this.#add(caller)) return false;
        this.#remove(holder);
        holder = caller;
        return true;
      },
      giveBack: () => this.#remove(holder),
    };
  }

  #add(holder: string): boolean {
    const taken = this.#taken.get(holder) ?? 0;
    if (taken >= this.#share) return false;
    this.#taken.set(holder, taken + 1);
    return true;
  }

  #remove(holder: string): void {
    const left = (this.#taken.get(holder) ?? 1) - 1;
    if (left === 0) this.#taken.delete(holder);
    else this.#taken.set(holder, left);
  }
}

/** The local operator may have as many as there are. */
export const OWN_PLACE: ConnectionPlace = { belongsTo: () => true, giveBack: () => {} };

/** An agent may be named like an address. */
function callerOf({ id }: Principal): string {
  return `caller ${id}`;
}
