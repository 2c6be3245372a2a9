import type { Clock } from '../ports/ports.ts';
import { OwnWrites } from '../store/own-writes.ts';
import type { NewPin, PinRow, PinStore } from '../store/pins.ts';

/**
 * Pins each foreign tool, and each foreign agent's card, to the definition that was seen first, because only that one
 * is trusted. With another definition it is held back until an operator accepts the change.
 */
export class Pins {
  readonly #store: PinStore;
  readonly #clock: Clock;
  readonly #pins = new Map<string, PinRow>();
  /** How many names of each server are pinned. */
  readonly #counts = new Map<string, number>();
  /** The changed definitions, by name. */
  readonly #held = new Map<string, Pinned>();
  readonly #writes = new OwnWrites();
  #loaded: Promise<void> | undefined;

  constructor({ store, clock }: { store: PinStore; clock: Clock }) {
    this.#store = store;
    this.#clock = clock;
  }

  /**
   * Whether a tool may be used with its current definition. A new name is pinned to it, unless its server has had too
   * many names: pins are never deleted, so a server must not fill the store with names that it makes up.
   */
  async admit(name: string, now: Pinned): Promise<boolean> {
    this.#loaded ??= this.#load();
    await this.#loaded;
    const isNew = !this.#pins.has(name) && (this.#counts.get(serverIn(name)) ?? 0) < MOST_NAMES;
    const pin = isNew ? await this.#add(name, now) : this.#pins.get(name);
    const isSame = pin?.hash === now.hash;
    // A pin of an older version has no definition. It is added, so that a later change can be compared with it.
    if (isSame && !pin.hasDefinition && isKept(now)) await this.#pin(name, now);
    if (isSame) {
      this.#held.delete(name);
      return true;
    }
    this.#held.set(name, now);
    return false;
  }

  /** Forgets the held tools that a server does not have any more. */
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

  /** The names of the held tools whose change no operator has refused yet. */
  undecided(): string[] {
    return this.held().filter((name) => this.#pins.get(name)?.refused !== this.#held.get(name)?.hash);
  }

  /** The accepted and the changed definition of a held tool; `undefined` when the tool is not held. */
  async change(name: string): Promise<PinChange | undefined> {
    const now = this.#held.get(name);
    if (now === undefined) return undefined;
    const pin = this.#pins.get(name);
    return {
      pinnedAt: pin?.pinnedAt ?? null,
      before: await this.#store.definition(name),
      now: now.definition,
      isRefused: pin?.refused === now.hash,
    };
  }

  /** Keeps a tool held, and not undecided unless it changes again. False when the tool is not held. */
  async refuse(name: string): Promise<boolean> {
    const now = this.#held.get(name);
    if (now === undefined) return false;
    await this.#writes.of(name, async () => {
      await this.#store.refuse(name, now.hash);
      const pin = this.#pins.get(name);
      if (pin !== undefined) this.#pins.set(name, { ...pin, refused: now.hash });
    });
    return true;
  }

  /** Pins a held tool to its changed definition. False when the tool is not held. */
  async accept(name: string): Promise<boolean> {
    const now = this.#held.get(name);
    if (now === undefined) return false;
    await this.#pin(name, now);
    this.#held.delete(name);
    return true;
  }

  /** Reads the recorded pins again, after another process has changed them. False when some must be read once more. */
  async reload(): Promise<boolean> {
    if (this.#loaded === undefined) return true;
    await this.#loaded;
    return this.#read();
  }

  /** Pins a new name. If another process has pinned it first, that pin counts. */
  #add(name: string, now: Pinned): Promise<PinRow> {
    return this.#writes.of(name, async () => {
      const pin = await this.#store.add(this.#newPin(name, now));
      this.#remember(pin);
      return pin;
    });
  }

  #pin(name: string, now: Pinned): Promise<void> {
    return this.#writes.of(name, async () => {
      const { definition, ...row } = this.#newPin(name, now);
      await this.#store.put({ ...row, definition });
      this.#remember({ ...row, refused: null, hasDefinition: definition !== null });
    });
  }

  #newPin(name: string, now: Pinned): NewPin {
    const definition = isKept(now) ? now.definition : null;
    return { name, hash: now.hash, pinnedAt: this.#clock.now().getTime(), definition };
  }

  async #load(): Promise<void> {
    try {
      await this.#read();
    } catch (error) {
      // The next caller reads the store again.
      this.#loaded = undefined;
      throw error;
    }
  }

  /** Reads all recorded pins. Pins are never deleted, so none must be forgotten. */
  #read(): Promise<boolean> {
    return this.#writes.reading(
      () => this.#store.list(),
      (rows, isOwn) => {
        for (const row of rows) if (!isOwn(row.name)) this.#remember(row);
      },
    );
  }

  #remember(row: PinRow): void {
    const server = serverIn(row.name);
    if (!this.#pins.has(row.name)) this.#counts.set(server, (this.#counts.get(server) ?? 0) + 1);
    this.#pins.set(row.name, row);
    // Another process has accepted the change.
    if (this.#held.get(row.name)?.hash === row.hash) this.#held.delete(row.name);
  }
}

/** The definition of a foreign tool or card. */
export interface Pinned {
  readonly hash: string;
  /** The hashed JSON text. */
  readonly definition: string;
}

/** The change, for an operator's decision. */
export interface PinChange {
  /** Epoch milliseconds; null for a name that was not pinned, because its server has too many. */
  readonly pinnedAt: number | null;
  /** As JSON text; null where it is not recorded. */
  readonly before: string | null;
  readonly now: string;
  readonly isRefused: boolean;
}

function isKept({ definition }: Pinned): boolean {
  return definition.length <= LONGEST_KEPT;
}

/** The name of the server ends at the first `__`, because it contains none. */
function serverIn(name: string): string {
  return name.slice(0, Math.max(0, name.indexOf('__')));
}

/** The most characters of a definition that is recorded, because pins are never deleted. */
const LONGEST_KEPT = 64 * 1024;
/** The most names that are pinned for one server: ten times as many as it may have at once. */
const MOST_NAMES = 10_000;
