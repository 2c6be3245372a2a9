import type { Principal } from '../call/principal.ts';

export interface ConnectionPlacesOptions {
  /** The most connections of all callers together. */
  readonly maxConnections: number;
  /** The most of one caller, and of all unproven peers from one address. At most a quarter of `maxConnections`. */
  readonly maxPerCaller?: number | undefined;
}

/** The place of one connection. */
export interface ConnectionPlace {
  /** Counts the connection as this caller's from now on. False when the caller's share is taken. */
  belongsTo(principal: Principal): boolean;
  /** Call it once, when the connection is over. */
  giveBack(): void;
}

/**
 * Counts the connections of each caller, and of all unproven peers of an address together. Each may have only a share
 * of all places, so that nobody takes all of them.
 */
export class ConnectionPlaces {
  readonly #share: number;
  /** Has only holders with connections, because there may be any number of addresses. */
  readonly #taken = new Map<string, number>();

  constructor({ maxConnections, maxPerCaller = maxConnections }: ConnectionPlacesOptions) {
    // A peer can use two shares, one by its key and one by its address. Half of all places are left for others even
    // then.
    this.#share = Math.min(maxPerCaller, Math.ceil(maxConnections / 4));
  }

  /** Takes a place for a proven caller or for an unproven peer of an address. `undefined` when the share is taken. */
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

/** The place of the local operator, whose connections are not limited. */
export const OWN_PLACE: ConnectionPlace = { belongsTo: () => true, giveBack: () => {} };

/** Prefixed, because an agent's id may look like an address. */
function callerOf({ id }: Principal): string {
  return `caller ${id}`;
}
