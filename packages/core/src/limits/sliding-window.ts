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
    for (const state of states) {
      const slices = this.#slices(principal, state.window.name);
      addOne(slices, state.window, now);
      this.#changed.add(slices);
      // Working it out again would cost as much as the first time.
      state.remaining -= 1;
      state.retryAfter = 0;
      state.resetAt = Math.max(state.resetAt, resetAfter(sliceAt(state.window, now), state.window));
    }
    return { allowed: true, states };
  }

  /** Where the principal stands in each window, taking nothing. */
  states(principal: string, windows: readonly Window[]): WindowState[] {
    return this.#states(principal, windows, this.#clock.now().getTime());
  }

  /** Forgets who has done nothing for this long: strangers come without end. */
  prune(seconds: number): void {
    const before = this.#clock.now().getTime() - seconds * 1000;
    for (const [principal, names] of this.#principals) {
      for (const [name, slices] of names) {
        if ([...slices.counts.keys()].some((slice) => slice > before)) continue;
        names.delete(name);
        // Where nothing is ever saved, it would be kept for that.
        this.#changed.delete(slices);
      }
      if (names.size === 0) this.#principals.delete(principal);
    }
  }

  /** Reads back what an earlier process had counted. */
  async load(store: CounterStore): Promise<void> {
    for (const { principal, name, slice, count } of await store.load(this.#clock.now().getTime() - LONGEST_MS)) {
      const slices = this.#slices(principal, name);
      slices.counts.set(slice, (slices.counts.get(slice) ?? 0) + count);
      slices.summary = undefined;
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

  #states(principal: string, windows: readonly Window[], now: number): Mutable<WindowState>[] {
    const names = this.#principals.get(principal);
    const states: Mutable<WindowState>[] = [];
    for (const window of windows) states.push(stateOf(names?.get(window.name), window, now));
    return states;
  }

  #slices(principal: string, name: string): Slices {
    let names = this.#principals.get(principal);
    if (names === undefined) {
      names = new Map();
      this.#principals.set(principal, names);
    }
    let slices = names.get(name);
    if (slices === undefined) {
      slices = { principal, name, counts: new Map(), summary: undefined };
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
  /** Of the slice that was current when somebody asked last. */
  summary: Summary | undefined;
}

/** The slices as they stand while one of them is current, so that they are gone through once in that time. */
interface Summary {
  readonly current: number;
  /** Counts for the part of it that is still inside. */
  readonly slidingOut: number;
  /** In the slices that are inside as a whole. */
  inside: number;
  newest: number;
  oldest: number;
}

function stateOf(slices: Slices | undefined, window: Window, now: number): Mutable<WindowState> {
  const current = sliceAt(window, now);
  let summary = slices?.summary;
  if (summary?.current !== current) {
    summary = summaryOf(slices?.counts ?? NO_COUNTS, window, current);
    if (slices !== undefined) slices.summary = summary;
  }
  const { slidingOut, inside, newest, oldest } = summary;
  const width = sliceWidth(window);
  const used = inside + slidingOut * (1 - (now - current) / width);
  const remaining = Math.max(0, Math.floor(window.limit - used));
  const retryAfter = remaining >= 1 ? 0 : Math.max(1, Math.ceil((oldest + width + window.seconds * 1000 - now) / 1000));
  const resetAt = used === 0 ? Math.ceil(now / 1000) : resetAfter(newest, window);
  return { window, remaining, retryAfter, resetAt };
}

function summaryOf(counts: ReadonlyMap<number, number>, window: Window, current: number): Summary {
  const width = sliceWidth(window);
  const slidesOut = current - window.seconds * 1000;
  const summary = { current, slidingOut: 0, inside: 0, newest: 0, oldest: current };
  for (const [slice, count] of counts) {
    // By half a slice, because the width of a slice need not be a whole number.
    if (slice < slidesOut - width / 2) continue;
    // A clock that jumped back must not make what was counted disappear: the future counts in full.
    if (slice < slidesOut + width / 2) summary.slidingOut += count;
    else summary.inside += count;
    summary.newest = Math.max(summary.newest, slice);
    summary.oldest = Math.min(summary.oldest, slice);
  }
  return summary;
}

function addOne(slices: Slices, window: Window, now: number): void {
  const { counts, summary } = slices;
  const slice = sliceAt(window, now);
  counts.set(slice, (counts.get(slice) ?? 0) + 1);
  if (summary?.current === slice) {
    summary.inside += 1;
    summary.newest = Math.max(summary.newest, slice);
    summary.oldest = Math.min(summary.oldest, slice);
  }
  if (counts.size > SLICES * 2)
    for (const old of counts.keys()) if (old < now - window.seconds * 1000 * 2) counts.delete(old);
}

/** Epoch seconds at which a window is empty again of which this is the newest slice. */
function resetAfter(newest: number, window: Window): number {
  return Math.ceil((newest + sliceWidth(window) + window.seconds * 1000) / 1000);
}

function sliceWidth(window: Window): number {
  return (window.seconds * 1000) / SLICES;
}

function sliceAt(window: Window, now: number): number {
  return Math.floor(now / sliceWidth(window)) * sliceWidth(window);
}

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] };

const NO_COUNTS: ReadonlyMap<number, number> = new Map();
const SLICES = 60;
const LONGEST_MS = 2 * 24 * 3600 * 1000;
