/** One outbound request, without path, query and headers, which may contain secrets. */
export interface EgressEntry {
  /** Epoch milliseconds. */
  readonly at: number;
  /** The caller; empty if an address was checked before its use. */
  readonly caller: string;
  /** `CONNECT`: a connection for another protocol. `CHECK`: the address was refused before anything was sent. */
  readonly method: string;
  /** With the port, unless it is the default of the scheme. */
  readonly host: string;
  /** `refused`: blocked by the gate. `failed`: sent, without an answer. */
  readonly outcome: 'answered' | 'failed' | 'refused';
  readonly status: number | null;
  /** Why there is no answer. */
  readonly reason: string | null;
  readonly milliseconds: number;
}

/** The last requests that went through the gate or were refused by it, in memory. */
export class EgressLog {
  readonly #entries: EgressEntry[] = [];
  #next = 0;

  add(entry: EgressEntry): void {
    this.#entries[this.#next] = entry;
    this.#next = (this.#next + 1) % MOST_ENTRIES;
  }

  /** The latest first. */
  get latest(): EgressEntry[] {
    const older = this.#entries.slice(this.#next);
    return [...older, ...this.#entries.slice(0, this.#next)].reverse();
  }
}

const MOST_ENTRIES = 500;
