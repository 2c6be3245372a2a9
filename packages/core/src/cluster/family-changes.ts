import type { Log } from '../ports/ports.ts';
import type { FamilyName, FamilyStore } from '../store/families.ts';

/** Reads a family again. False when some of it must be read once more. */
export type ReloadFamily = () => Promise<boolean>;

/** Reads families again that other processes have changed. */
export class FamilyChanges {
  readonly #store: FamilyStore;
  readonly #log: Log;
  /** The families that this process has a copy of. */
  readonly #known: Map<FamilyName, number>;
  readonly #reloads = new Map<FamilyName, ReloadFamily[]>();
  readonly #failed = new Set<FamilyName>();
  #checking: Promise<void> | undefined;

  private constructor(store: FamilyStore, log: Log, known: ReadonlyMap<FamilyName, number>) {
    this.#store = store;
    this.#log = log;
    this.#known = new Map(known);
  }

  /** Open it before anything is read: later changes are noticed. */
  static async open({ store, log }: { store: FamilyStore; log: Log }): Promise<FamilyChanges> {
    return new FamilyChanges(store, log, await store.versions());
  }

  on(family: FamilyName, reload: ReloadFamily): void {
    this.#reloads.set(family, [...(this.#reloads.get(family) ?? []), reload]);
  }

  /** Looks whether something has changed, and resolves when it is taken over. One that is under way is waited for. */
  check(): Promise<void> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  async #check(): Promise<void> {
    for (const [family, version] of await this.#store.versions()) {
      if (version === this.#known.get(family)) continue;
      try {
        const whole: boolean[] = [];
        for (const reload of this.#reloads.get(family) ?? []) whole.push(await reload());
        if (whole.every((is) => is)) this.#known.set(family, version);
        this.#failed.delete(family);
      } catch (error) {
        // It is tried again with the next look, and logged once.
        if (!this.#failed.has(family)) this.#log.error({ family, error: String(error) }, NOT_TAKEN_OVER);
        this.#failed.add(family);
      }
    }
  }
}

const NOT_TAKEN_OVER = 'a change that another node made is not taken over yet';
