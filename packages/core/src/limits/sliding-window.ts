import type { Clock } from '../ports.ts';
import type { CounterRow, CounterStore } from '../store/store.ts';

/** One limit: how many in how long. */
export interface Window {
  readonly name: string;
  readonly limit: number;
  readonly seconds: number;
}

/** Where a principal stands in its tightest window. */
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
  readonly #counts = new Map<string, Map<number, number>>();
  readonly #changed = new Set<string>();

  constructor({ clock }: { clock: Clock }) {
    this.#clock = clock;
  }

  /** Takes one from every window, or none when one is full. Returns the windows as they stand afterwards. */
  take(principal: string, windows: readonly Window[]): Taken {
    const now = this.#clock.now().getTime();
    const before = windows.map((window) => this.#state(principal, window, now));
    if (before.some((state) => state.remaining < 1)) return { allowed: false, states: before };
    for (const window of windows) this.#add(principal, window, now);
    return { allowed: true, states: before.map((state) => withOneLess(state, now)) };
  }

  /** Where the principal stands in each window, taking nothing. */
  states(principal: string, windows: readonly Window[]): WindowState[] {
    const now = this.#clock.now().getTime();
    return windows.map((window) => this.#state(principal, window, now));
  }

  /** Forgets who has done nothing for this long: strangers come without end. */
  prune(seconds: number): void {
    const before = this.#clock.now().getTime() - seconds * 1000;
    for (const [key, slices] of this.#counts) {
      if (![...slices.keys()].some((slice) => slice > before)) this.#counts.delete(key);
    }
  }

  /** Reads back what an earlier process had counted. */
  async load(store: CounterStore): Promise<void> {
    for (const row of await store.load(this.#clock.now().getTime() - LONGEST_MS)) {
      const slices = this.#slices(keyOf(row.principal, row.name));
      slices.set(row.slice, (slices.get(row.slice) ?? 0) + row.count);
    }
  }

  /** Writes what has changed since the last time. */
  async save(store: CounterStore): Promise<void> {
    const rows: CounterRow[] = [];
    for (const key of this.#changed) {
      const [name = '', principal = ''] = key.split('\n');
      for (const [slice, count] of this.#counts.get(key) ?? []) rows.push({ principal, name, slice, count });
    }
    this.#changed.clear();
    if (rows.length > 0) await store.save(rows, this.#clock.now().getTime() - LONGEST_MS);
  }

  #add(principal: string, window: Window, now: number): void {
    const key = keyOf(principal, window.name);
    const slices = this.#slices(key);
    const slice = sliceAt(window, now);
    slices.set(slice, (slices.get(slice) ?? 0) + 1);
    this.#changed.add(key);
    if (slices.size > SLICES * 2)
      for (const old of slices.keys()) if (old < now - window.seconds * 1000 * 2) slices.delete(old);
  }

  #state(principal: string, window: Window, now: number): WindowState {
    const slices = this.#counts.get(keyOf(principal, window.name)) ?? NO_SLICES;
    const start = now - window.seconds * 1000;
    const width = sliceWidth(window);
    let used = 0;
    let newest = 0;
    let freedAt = Number.POSITIVE_INFINITY;
    for (const [slice, count] of slices) {
      // A clock that jumped back must not make what was counted disappear: the future counts in full.
      const inside = Math.min(1, (slice + width - start) / width);
      if (inside <= 0) continue;
      used += count * inside;
      newest = Math.max(newest, slice);
      freedAt = Math.min(freedAt, slice);
    }
    const remaining = Math.max(0, Math.floor(window.limit - used));
    const wait = remaining >= 1 ? 0 : Math.max(1, Math.ceil((freedAt + width + window.seconds * 1000 - now) / 1000));
    const resetAt = Math.ceil((used === 0 ? now : newest + width + window.seconds * 1000) / 1000);
    return { window, remaining, retryAfter: wait, resetAt };
  }

  #slices(key: string): Map<number, number> {
    let slices = this.#counts.get(key);
    if (slices === undefined) {
      slices = new Map();
      this.#counts.set(key, slices);
    }
    return slices;
  }
}

function keyOf(principal: string, name: string): string {
  // Neither has a line break in it.
  return `${name}\n${principal}`;
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
const NO_SLICES: ReadonlyMap<number, number> = new Map();
