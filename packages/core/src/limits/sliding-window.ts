import type { Clock } from '../ports.ts';
import type { CounterRow, CounterStore } from '../store/store.ts';

/** One limit: how many in how long. */
export interface Window {
  readonly name: string;
  readonly limit: number;
  readonly seconds: number;
}

/** Where a principal stands in one window. */
export interface WindowState {
  readonly window: Window;
  readonly remaining: number;
  /** Seconds until something is free again, rounded up; 0 while something is. */
  readonly retryAfter: number;
  /** Epoch seconds at which the window is empty again if nothing more comes. */
  readonly resetAt: number;
}

/** What came of taking one. */
export interface Taken {
  readonly allowed: boolean;
  readonly states: readonly WindowState[];
}

/**
 * Counts by principal over sliding windows. A window is sixty slices: the slice that is sliding out counts for the part
 * of it still inside, so a burst at the seam of two minutes is not let through twice.
 */
export class SlidingWindows {
  readonly #clock: Clock;
  readonly #principals = new Map<string, Map<string, Slices>>();
  readonly #changed = new Set<Slices>();

  constructor({ clock }: { clock: Clock }) {
    this.#clock = clock;
  }

  /** Takes one from every window, or none when one is full. Returns the windows as they stand afterwards. */
  take(principal: string, windows: readonly Window[]): Taken {
    const now = this.#clock.now().getTime();
    const states = this.#states(principal, windows, now);
    for (const state of states) if (state.remaining < 1) return { allowed: false, states };
    for (const window of windows) this.#add(principal, window, now);
    return { allowed: true, states: states.map((state) => withOneLess(state, now)) };
  }

  /** Where the principal stands in each window, taking nothing. */
  states(principal: string, windows: readonly Window[]): WindowState[] {
    return this.#states(principal, windows, this.#clock.now().getTime());
  }

  /** Forgets who has done nothing for this long: strangers come without end. */
  prune(seconds: number): void {
    const before = this.#clock.now().getTime() - seconds * 1000;
    for (const [principal, names] of this.#principals) {
      for (const [name, { counts }] of names) {
        if (![...counts.keys()].some((slice) => slice > before)) names.delete(name);
      }
      if (names.size === 0) this.#principals.delete(principal);
    }
  }

  /** Reads back what an earlier process had counted. */
  async load(store: CounterStore): Promise<void> {
    for (const { principal, name, slice, count } of await store.load(this.#clock.now().getTime() - LONGEST_MS)) {
      const { counts } = this.#slices(principal, name);
      counts.set(slice, (counts.get(slice) ?? 0) + count);
    }
  }

  /** Writes what has changed since the last time. */
  async save(store: CounterStore): Promise<void> {
    const rows: CounterRow[] = [];
    for (const { principal, name, counts } of this.#changed) {
      for (const [slice, count] of counts) rows.push({ principal, name, slice, count });
    }
    this.#changed.clear();
    if (rows.length > 0) await store.save(rows, this.#clock.now().getTime() - LONGEST_MS);
  }

  #add(principal: string, window: Window, now: number): void {
    const slices = this.#slices(principal, window.name);
    const { counts } = slices;
    const slice = sliceAt(window, now);
    counts.set(slice, (counts.get(slice) ?? 0) + 1);
    this.#changed.add(slices);
    if (counts.size > SLICES * 2)
      for (const old of counts.keys()) if (old < now - window.seconds * 1000 * 2) counts.delete(old);
  }

  #states(principal: string, windows: readonly Window[], now: number): WindowState[] {
    const names = this.#principals.get(principal);
    return windows.map((window) => stateOf(names?.get(window.name)?.counts ?? NO_COUNTS, window, now));
  }

  #slices(principal: string, name: string): Slices {
    let names = this.#principals.get(principal);
    if (names === undefined) {
      names = new Map();
      this.#principals.set(principal, names);
    }
    let slices = names.get(name);
    if (slices === undefined) {
      slices = { principal, name, counts: new Map() };
      names.set(name, slices);
    }
    return slices;
  }
}

/** What one principal has taken from one window, by the start of the slice. */
interface Slices {
  readonly principal: string;
  readonly name: string;
  readonly counts: Map<number, number>;
}

function stateOf(counts: ReadonlyMap<number, number>, window: Window, now: number): WindowState {
  const start = now - window.seconds * 1000;
  const width = sliceWidth(window);
  let used = 0;
  let newest = 0;
  let freedAt = Number.POSITIVE_INFINITY;
  // By key: a pair for each would be made anew, of up to 120 slices, three times for every request.
  for (const slice of counts.keys()) {
    // A clock that jumped back must not make what was counted disappear: the future counts in full.
    const inside = Math.min(1, (slice + width - start) / width);
    if (inside <= 0) continue;
    used += (counts.get(slice) ?? 0) * inside;
    newest = Math.max(newest, slice);
    freedAt = Math.min(freedAt, slice);
  }
  const remaining = Math.max(0, Math.floor(window.limit - used));
  const wait = remaining >= 1 ? 0 : Math.max(1, Math.ceil((freedAt + width + window.seconds * 1000 - now) / 1000));
  const resetAt = Math.ceil((used === 0 ? now : newest + width + window.seconds * 1000) / 1000);
  return { window, remaining, retryAfter: wait, resetAt };
}

function sliceWidth(window: Window): number {
  return (window.seconds * 1000) / SLICES;
}

function sliceAt(window: Window, now: number): number {
  return Math.floor(now / sliceWidth(window)) * sliceWidth(window);
}

/** Working it out again would cost as much as the first time. */
function withOneLess({ window, remaining, resetAt }: WindowState, now: number): WindowState {
  const over = sliceAt(window, now) + sliceWidth(window) + window.seconds * 1000;
  return { window, remaining: remaining - 1, retryAfter: 0, resetAt: Math.max(resetAt, Math.ceil(over / 1000)) };
}

const SLICES = 60;
const LONGEST_MS = 2 * 24 * 3600 * 1000;
const NO_COUNTS: ReadonlyMap<number, number> = new Map();
