import type { Clock } from '../ports/ports.ts';
import type { PinRow, PinStore } from '../store/pins.ts';

/**
 * What each foreign tool, and each foreign agent's card, was when it was first seen. One that has changed since is held until the
 * operator accepts it: it is trusted for what it said it was.
 */
export class Pins {
  readonly #store: PinStore;
  readonly #clock: Clock;
  readonly #pins = new Map<string, PinRow>();
  /** How many names of each server are known. */
  readonly #counts = new Map<string, number>();
  /** The hash of what a held tool is now, by name. */
  readonly #held = new Map<string, string>();
  #loaded: Promise<void> | undefined;

  constructor({ store, clock }: { store: PinStore; clock: Clock }) {
    this.#store = store;
    this.#clock = clock;
  }

  /**
   * Whether a tool may be used as it is. One that was never seen is pinned as it is now, unless its server has had so many that it
   * makes them up: what is remembered is remembered for good.
   */
  async admit(name: string, hash: string): Promise<boolean> {
    this.#loaded ??= this.#load();
    await this.#loaded;
    const pin = this.#pins.get(name);
    const isNew = pin === undefined && (this.#counts.get(serverIn(name)) ?? 0) < MOST_NAMES;
    if (isNew) await this.#pin(name, hash);
    if (isNew || pin?.hash === hash) {
      this.#held.delete(name);
      return true;
    }
    this.#held.set(name, hash);
    return false;
  }

  /** Forgets that tools of a server were held which it does not have any more. */
  release(server: string, has: ReadonlySet<string>): void {
    for (const name of this.#held.keys()) if (serverIn(name) === server && !has.has(name)) this.#held.delete(name);
  }

  /** The names of tools that have changed since they were pinned. */
  held(): string[] {
    return [...this.#held.keys()].sort();
  }

  isHeld(name: string): boolean {
    return this.#held.has(name);
  }

  /** Takes a changed tool for what it is now; false when none of this name is held. */
  async accept(name: string): Promise<boolean> {
    const hash = this.#held.get(name);
    if (hash === undefined) return false;
    await this.#pin(name, hash);
    this.#held.delete(name);
    return true;
  }

  async #pin(name: string, hash: string): Promise<void> {
    const row = { name, hash, pinnedAt: this.#clock.now().getTime() };
    await this.#store.put(row);
    this.#remember(row);
  }

  async #load(): Promise<void> {
    try {
      for (const row of await this.#store.list()) this.#remember(row);
    } catch (error) {
      // Whoever asks next asks the store again.
      this.#loaded = undefined;
      throw error;
    }
  }

  #remember(row: PinRow): void {
    const server = serverIn(row.name);
    if (!this.#pins.has(row.name)) this.#counts.set(server, (this.#counts.get(server) ?? 0) + 1);
    this.#pins.set(row.name, row);
  }
}

/** The first `__` is where the server's name ends: it has none itself. */
function serverIn(name: string): string {
  return name.slice(0, Math.max(0, name.indexOf('__')));
}

/** Ten times as many as a server may have at once. */
const MOST_NAMES = 10_000;
