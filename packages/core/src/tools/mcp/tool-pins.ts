import type { Clock } from '../../ports.ts';
import type { PinRow, PinStore } from '../../store/pins.ts';

/**
 * What each foreign tool was when it was first seen. One that has changed since is held until the operator accepts it: a tool
 * is trusted for what it said it was.
 */
export class ToolPins {
  readonly #store: PinStore;
  readonly #clock: Clock;
  readonly #pins = new Map<string, PinRow>();
  /** The hash of what a held tool is now, by name. */
  readonly #held = new Map<string, string>();
  #loaded: Promise<void> | undefined;

  constructor({ store, clock }: { store: PinStore; clock: Clock }) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Whether a tool may be used as it is. One that was never seen is pinned as it is now. */
  async admit(name: string, hash: string): Promise<boolean> {
    this.#loaded ??= this.#load();
    await this.#loaded;
    const pin = this.#pins.get(name);
    if (pin === undefined) await this.#pin(name, hash);
    if (pin === undefined || pin.hash === hash) {
      this.#held.delete(name);
      return true;
    }
    this.#held.set(name, hash);
    return false;
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
    this.#pins.set(name, row);
  }

  async #load(): Promise<void> {
    for (const row of await this.#store.list()) this.#pins.set(row.name, row);
  }
}
