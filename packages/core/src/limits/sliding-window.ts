import type { Clock } from '../ports/ports.ts';
import type { CounterRow, CounterStore } from '../store/store.ts';

/** At most `limit` in any period of this many seconds. */
export interface Window {
  readonly name: string;
  readonly limit: number;
  readonly seconds: number;
}

/** The counts of a principal in one window. */
export interface WindowState {
  readonly window: Window;
  readonly remaining: number;
  /** Seconds until something is free again, rounded up; 0 while something is. */
  readonly retryAfter: number;
  /** Epoch seconds at which the window is empty if nothing more is counted. */
  readonly resetAt: number;
}

/** The outcome of counting one more. */
export interface Taken {
  readonly allowed: boolean;
  readonly states: readonly WindowState[];
}

/**
 * Counts by principal over sliding windows. A window has sixty slices. The slice that is sliding out counts in
 * proportion to the part that is still inside, so that a burst at the border of two minutes does not pass twice.
 *
 * Where several processes count, each has a purse for a principal: counts that it has reserved in the store, and hands
 * out without asking again. The next save gives back the rest. So all processes together never exceed the limit. Near
 * the limit, one process may refuse while another one has reserved counts left.
 */
export class SlidingWindows {
  readonly #clock: Clock;
  readonly #principals = new Map<string, Map<string, Slices>>();
  readonly #changed = new Set<Slices>();
  readonly #counters: LeasingStore | undefined;
  readonly #purses = new Set<Purse>();
  /** The wall time at elapsed time 0, as of the start. Setting the clock later moves no window. */
  readonly #startedAt: number;

  constructor({ clock, counters }: { clock: Clock; counters?: CounterStore | undefined }) {
    this.#clock = clock;
    // Without `lease`, no other process counts.
    this.#counters = counters?.lease === undefined ? undefined : (counters as LeasingStore);
    this.#startedAt = clock.now().getTime() - clock.elapsed();
  }

  /** Counts one more in every window, or in none if one of them is full. Returns the new counts. */
  take(principal: string, windows: readonly Window[]): Taken {
    const now = this.#now();
    if (this.#counters !== undefined) {
      const purse = this.#purseOf(principal, windows);
      if (fromPurse(purse)) return { allowed: true, states: this.#states(principal, windows, now) };
      // A caller that did not await `lease` is judged by what this process knows. The purse is filled for later
      // callers.
      void this.#fill(purse, principal, windows, this.#counters);
    }
    const states = this.#states(principal, windows, now);
    for (const state of states) if (state.remaining < 1) return { allowed: false, states };
    for (const state of states) {
      const slices = this.#slices(principal, state.window.name);
      addOne(slices, state.window, now);
      this.#changed.add(slices);
      // Updated in place, because `states` is also the result.
      state.remaining -= 1;
      state.retryAfter = 0;
      state.resetAt = Math.max(state.resetAt, this.#resetAt(sliceAt(state.window, now), state.window, now));
    }
    return { allowed: true, states };
  }

  /**
   * Sets a count aside for `take`, where several processes count. Await it before `take`; `undefined` when nothing is
   * to be awaited. If the store cannot be reached, `take` decides by what this process knows.
   */
  lease(principal: string, windows: readonly Window[]): Promise<void> | undefined {
    if (this.#counters === undefined) return undefined;
    const purse = this.#purseOf(principal, windows);
    return setAside(purse) ? undefined : this.#lease(purse, principal, windows, this.#counters);
  }

  async #lease(purse: Purse, principal: string, windows: readonly Window[], counters: LeasingStore): Promise<void> {
    purse.waiting += 1;
    while ((await this.#fill(purse, principal, windows, counters)) > 0 && !setAside(purse));
    purse.waiting -= 1;
  }

  /** Reserves counts in the store. Returns how many. */
  #fill(purse: Purse, principal: string, windows: readonly Window[], counters: LeasingStore): Promise<number> {
    purse.filling ??= this.#countAhead(purse, principal, windows, counters)
      .catch(() => 0)
      .finally(() => {
        purse.filling = undefined;
      });
    return purse.filling;
  }

  async #countAhead(
    purse: Purse,
    principal: string,
    windows: readonly Window[],
    counters: LeasingStore,
  ): Promise<number> {
    const now = this.#now();
    const slicesOf = windows.map((window) => ({ window, slices: this.#slices(principal, window.name) }));
    const spans = windows.map((window) => ({
      name: window.name,
      since: now - window.seconds * 1000 - sliceWidth(window),
    }));
    let granted = 0;
    const rows = await counters.lease(principal, spans, (known) => {
      const lefts = windows.map((window) => {
        const counts = countsIn(known, window.name);
        return { window, left: remainingOf(summaryOf(counts, window, sliceAt(window, now)), window, now) };
      });
      granted = granting(lefts, purse.waiting);
      return granted === 0
        ? []
        : windows.map((window) => ({ principal, name: window.name, slice: sliceAt(window, now), count: granted }));
    });
    for (const { window, slices } of slicesOf) {
      slices.purse = purse;
      slices.counts = countsIn(rows, window.name);
      for (const [slice, count] of slices.unsaved) slices.counts.set(slice, (slices.counts.get(slice) ?? 0) + count);
      slices.summary = undefined;
    }
    purse.left += granted;
    purse.charged = slicesOf.map(({ window, slices }) => ({ slices, slice: sliceAt(window, now) }));
    this.#purses.add(purse);
    return granted;
  }

  #purseOf(principal: string, windows: readonly Window[]): Purse {
    const slices = this.#slices(principal, windows[0]?.name ?? '');
    slices.purse ??= { left: 0, setAside: 0, waiting: 0, charged: [], filling: undefined };
    return slices.purse;
  }

  /** Gives back the reserved counts that were not used, including those set aside for a call that was then refused. */
  #giveBack(): void {
    for (const purse of this.#purses) {
      const { charged } = purse;
      const unused = purse.left + purse.setAside;
      purse.left = 0;
      purse.setAside = 0;
      if (unused === 0) continue;
      for (const { slices, slice } of charged) {
        slices.counts.set(slice, (slices.counts.get(slice) ?? 0) - unused);
        slices.summary = undefined;
        note(slices, slice, -unused);
        this.#changed.add(slices);
      }
    }
    this.#purses.clear();
  }

  /** The principal's counts in each window, without counting one. */
  states(principal: string, windows: readonly Window[]): WindowState[] {
    return this.#states(principal, windows, this.#now());
  }

  /** Evicts idle callers; unproven callers are unbounded. */
  prune(seconds: number): void {
    const before = this.#now() - seconds * 1000;
    for (const [principal, names] of this.#principals) {
      for (const [name, slices] of names) {
        if ([...slices.counts.keys()].some((slice) => slice > before)) continue;
        names.delete(name);
        // If nothing is ever saved, the set would keep it in memory.
        this.#changed.delete(slices);
      }
      if (names.size === 0) this.#principals.delete(principal);
    }
  }

  /**
   * Reads the counts of an earlier process, and returns the time of the newest count; 0 when there is none. A count
   * from the future, made while the clock was ahead, is moved to now, so that it counts for no longer than its window.
   */
  async load(store: CounterStore): Promise<number> {
    const now = this.#now();
    let newest = 0;
    for (const { principal, name, slice, count } of await store.load(0)) {
      newest = Math.max(newest, slice);
      if (slice < now - LONGEST_MS || count === 0) continue;
      const slices = this.#slices(principal, name);
      const at = Math.min(slice, now);
      slices.counts.set(at, (slices.counts.get(at) ?? 0) + count);
      slices.summary = undefined;
      if (at === slice) continue;
      note(slices, slice, -count);
      note(slices, at, count);
      this.#changed.add(slices);
    }
    return newest;
  }

  /** Writes the counts since the last save. */
  async save(store: CounterStore): Promise<void> {
    this.#giveBack();
    const changed = [...this.#changed];
    this.#changed.clear();
    const rows = changed.flatMap((slices) => {
      const { principal, name, unsaved } = slices;
      slices.unsaved = new Map();
      return [...unsaved].map(([slice, count]): CounterRow => ({ principal, name, slice, count }));
    });
    if (rows.length > 0) await store.add(rows, this.#now() - LONGEST_MS);
  }

  #states(principal: string, windows: readonly Window[], now: number): Mutable<WindowState>[] {
    const names = this.#principals.get(principal);
    const states: Mutable<WindowState>[] = [];
    for (const window of windows) {
      const { remaining, retryAfter, newest } = stateOf(names?.get(window.name), window, now);
      const resetAt =
        newest === undefined ? Math.ceil(this.#clock.now().getTime() / 1000) : this.#resetAt(newest, window, now);
      states.push({ window, remaining, retryAfter, resetAt });
    }
    return states;
  }

  /** Milliseconds that follow the wall clock, but not its jumps. */
  #now(): number {
    return this.#startedAt + this.#clock.elapsed();
  }

  /** The epoch seconds, by the wall clock, at which a window with this newest slice is empty. */
  #resetAt(newest: number, window: Window, now: number): number {
    const left = newest + sliceWidth(window) + window.seconds * 1000 - now;
    return Math.ceil((this.#clock.now().getTime() + left) / 1000);
  }

  #slices(principal: string, name: string): Slices {
    let names = this.#principals.get(principal);
    if (names === undefined) {
      names = new Map();
      this.#principals.set(principal, names);
    }
    let slices = names.get(name);
    if (slices === undefined) {
      slices = { principal, name, counts: new Map(), unsaved: new Map(), summary: undefined, purse: undefined };
      names.set(name, slices);
    }
    return slices;
  }
}

/** The counts of one principal in one window, by the start of the slice. */
interface Slices {
  readonly principal: string;
  readonly name: string;
  counts: Map<number, number>;
  /** The counts since the last save. */
  unsaved: Map<number, number>;
  /** The summary for the slice that was current at the last check. */
  summary: Summary | undefined;
  purse: Purse | undefined;
}

/** The reserved counts of a principal, equal in each of its windows. */
interface Purse {
  left: number;
  /** Counts for callers that have awaited `lease` and call `take` next. */
  setAside: number;
  /** How many callers await `lease`. */
  waiting: number;
  /** The slices in which the last reserved counts were counted. */
  charged: readonly { readonly slices: Slices; readonly slice: number }[];
  filling: Promise<number> | undefined;
}

type LeasingStore = CounterStore & Required<Pick<CounterStore, 'lease'>>;

/** The sums over the slices, valid while one slice is current, so that they are computed only once in that time. */
interface Summary {
  readonly current: number;
  /** The count of the slice that is sliding out. */
  readonly slidingOut: number;
  /** The count of all slices that are inside as a whole. */
  inside: number;
  newest: number;
  oldest: number;
}

/** `newest`: the newest slice that counts, if one does. */
function stateOf(slices: Slices | undefined, window: Window, now: number) {
  const current = sliceAt(window, now);
  let summary = slices?.summary;
  if (summary?.current !== current) {
    summary = summaryOf(slices?.counts ?? NO_COUNTS, window, current);
    if (slices !== undefined) slices.summary = summary;
  }
  const { newest, oldest } = summary;
  const width = sliceWidth(window);
  const ahead = slices?.purse === undefined ? 0 : slices.purse.left + slices.purse.setAside;
  const used = usedOf(summary, window, now) - ahead;
  const remaining = Math.max(0, Math.floor(window.limit - used));
  const retryAfter = remaining >= 1 ? 0 : Math.max(1, Math.ceil((oldest + width + window.seconds * 1000 - now) / 1000));
  return { remaining, retryAfter, newest: used === 0 ? undefined : newest };
}

function usedOf({ current, inside, slidingOut }: Summary, window: Window, now: number): number {
  return inside + slidingOut * (1 - (now - current) / sliceWidth(window));
}

function remainingOf(summary: Summary, window: Window, now: number): number {
  return Math.max(0, Math.floor(window.limit - usedOf(summary, window, now)));
}

function countsIn(rows: readonly CounterRow[], name: string): Map<number, number> {
  return new Map(rows.flatMap((row) => (row.name === name ? [[row.slice, row.count]] : [])));
}

/**
 * How many counts to reserve: a tenth of what is left, or one when little is left, but at least one for each waiting
 * caller.
 */
function granting(lefts: readonly { window: Window; left: number }[], waiting: number): number {
  const left = Math.min(...lefts.map((one) => one.left));
  const share = lefts.map((one) => (one.left < one.window.limit * LITTLE ? 1 : Math.ceil(one.left * SHARE)));
  return Math.min(left, Math.max(waiting, Math.min(...share)));
}

function setAside(purse: Purse): boolean {
  if (purse.left === 0) return false;
  purse.left -= 1;
  purse.setAside += 1;
  return true;
}

function fromPurse(purse: Purse): boolean {
  if (purse.setAside > 0) purse.setAside -= 1;
  else if (purse.left > 0) purse.left -= 1;
  else return false;
  return true;
}

function summaryOf(counts: ReadonlyMap<number, number>, window: Window, current: number): Summary {
  const width = sliceWidth(window);
  const slidesOut = current - window.seconds * 1000;
  const summary = { current, slidingOut: 0, inside: 0, newest: 0, oldest: current };
  for (const [slice, count] of counts) {
    // Compared with a tolerance of half a slice, because the width of a slice need not be an integer.
    if (slice < slidesOut - width / 2 || count === 0) continue;
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
  note(slices, slice, 1);
  if (summary?.current === slice) {
    summary.inside += 1;
    summary.newest = Math.max(summary.newest, slice);
    summary.oldest = Math.min(summary.oldest, slice);
  }
  if (counts.size > SLICES * 2)
    for (const old of counts.keys()) if (old < now - window.seconds * 1000 * 2) counts.delete(old);
}

function note({ unsaved }: Slices, slice: number, count: number): void {
  unsaved.set(slice, (unsaved.get(slice) ?? 0) + count);
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
/** The part of what is left in a window that is reserved at once. */
const SHARE = 0.1;
/** The part of a limit below which counts are reserved one by one. */
const LITTLE = 0.2;
const LONGEST_MS = 2 * 24 * 3600 * 1000;
