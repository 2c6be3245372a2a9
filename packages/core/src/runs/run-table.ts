import { InFlight } from '@dragoman/protocols';
import { drained } from '../ending/drained.ts';
import { Ending } from '../ending/ending.ts';
import { unlessAborted } from '../ending/until-aborted.ts';
import type { Clock } from '../ports/ports.ts';
import { refuse } from '../refusals/refused.ts';
import { type ActiveRun, RUN_KINDS, type RunKind } from './active-run.ts';
import { RunCounts } from './run-counts.ts';
import { RunPlace } from './run-place.ts';
import { type SlotRequest, Slots } from './slots.ts';

/**
 * All runs of this process: requests, executions of workflows and calls of tools. The table has the slots they run in,
 * finds runs by name, counts and stops them, and resumes those that an earlier process left.
 *
 *   admit ──▶ recorded ──▶ start ──▶ turn ──▶ works ──▶ removed
 *     └── refused, or a repeat ──▶ released
 */
export class RunTable {
  readonly counts = new RunCounts();
  /** Whether this node does not reach its database, so that it may accept nothing: others may take over its runs. */
  isFenced: () => boolean = () => false;
  /** Ends when a stop begins. */
  readonly draining = new Ending();
  /** Ends when a stop waits no longer for runs to finish. */
  readonly interrupted = new Ending();
  /** Ends when a stop is over. */
  readonly stopped = new Ending();
  readonly #clock: Clock;
  readonly #limits = new Map<string, number>();
  readonly #slots = new Slots({ limitOf: (lane) => this.#limits.get(lane) ?? DEFAULT_LIMIT });
  readonly #live = new InFlight<ActiveRun, string | number>();
  readonly #recoveries: (() => AsyncGenerator<readonly Resume[]>)[] = [];
  /** How many runs of each kind are in the table or being recorded. */
  readonly #underWay: Record<RunKind, number> = { execution: 0, request: 0, tool: 0 };
  readonly #closed = new Set<RunKind>();
  #onEmpty: (() => void) | undefined;
  #lastNumber = 0;

  constructor({ clock }: { readonly clock: Clock }) {
    this.#clock = clock;
  }

  /** Sets how many runs of a lane work at once; others wait. Default: 8. */
  setLimit(lane: string, most: number): void {
    this.#limits.set(lane, most);
  }

  isClosed(kind: RunKind): boolean {
    return this.#closed.has(kind);
  }

  /** Throws `Refused` when the server is stopping or does not reach its database. */
  requireOpen(kind: RunKind): void {
    if (this.isFenced()) refuse('store_unavailable', { retry_after: 5 }, 'This node does not reach its database.');
    if (this.isClosed(kind)) refuse('busy', { retry_after: 5 }, 'The server is stopping.');
  }

  /**
   * Reserves a place for a run before it is recorded: a run that can start at once is recorded as started, and no
   * recorded run is refused. A held run waits for something else first, so it takes no slot.
   */
  admit(kind: RunKind, lane: string, principal: SlotRequest['principal'], { isHeld = false } = {}): RunPlace {
    this.requireOpen(kind);
    const slot = isHeld ? undefined : this.#slots.tryTake(lane);
    const announced = slot === undefined ? this.#slots.tryWait(lane, principal) : undefined;
    this.#underWay[kind] += 1;
    return new RunPlace(slot, announced, () => this.#leave(kind));
  }

  /** Whether one more run of a principal may wait in a lane. */
  mayWait(lane: string, principal: SlotRequest['principal']): boolean {
    const announced = this.#slots.tryWait(lane, principal);
    announced?.release();
    return announced !== undefined;
  }

  /** Puts a run in the table until its work is over. The work must not reject. */
  start(run: ActiveRun, work: () => Promise<void>, { name, place }: StartOptions): Promise<void> {
    run.slot = place?.takeSlot();
    this.add(run, name);
    const done = work().finally(() => this.remove(run));
    if (this.interrupted.aborted) run.interrupt();
    return done;
  }

  /** Puts a run in the table. An earlier run loses the name, but stays in the table until it is over. */
  add(run: ActiveRun, name?: string): void {
    const before = name === undefined ? undefined : this.#live.remove(name);
    if (before !== undefined) this.#put(before, this.#nextNumber());
    this.#put(run, name ?? this.#nextNumber());
    this.#underWay[run.kind] += 1;
  }

  /** Removes a run that is over. A second call changes nothing. */
  remove(run: ActiveRun): void {
    run.slot?.release();
    run.slot = undefined;
    if (run.place === undefined) return;
    this.#live.remove(run.place);
    run.place = undefined;
    this.#leave(run.kind);
  }

  /** Requests a slot for a run, once `held` has resolved. Rejects with the run's reason when the run ends first. */
  async turn(run: ActiveRun, request: Omit<SlotRequest, 'signal'>, held?: Promise<void>): Promise<void> {
    run.isWaiting = true;
    try {
      if (held !== undefined) await unlessAborted(held, run);
      run.slot = await this.#slots.take({ ...request, signal: run });
    } finally {
      run.isWaiting = false;
    }
  }

  get<Run extends ActiveRun>(type: RunType<Run>, name: string): Run | undefined {
    const run = this.#live.get(name);
    return run instanceof type ? run : undefined;
  }

  /** The runs of one type, oldest first. */
  values<Run extends ActiveRun>(type: RunType<Run>): Run[] {
    return this.#live.values().filter((run): run is Run => run instanceof type);
  }

  /** How many runs of each kind work now, and how many wait for a slot. */
  get load(): Readonly<Record<RunKind, RunLoad>> {
    const load = { execution: newLoad(), request: newLoad(), tool: newLoad() };
    for (const { kind, isWaiting } of this.#live.values()) load[kind][isWaiting ? 'waiting' : 'running'] += 1;
    return load;
  }

  /** `recover` resumes the runs of a kind that an earlier process left, after the kinds registered before. */
  recovers<Row>({ unfinished, resume }: Recoverable<Row>): void {
    this.#recoveries.push(async function* () {
      for await (const rows of unfinished()) yield rows.map((row) => () => resume(row));
    });
  }

  /**
   * Continues or ends the runs of a process that is gone. Where the disk is full, ends are written when there is
   * room, and the start does not wait for that.
   */
  async recover(): Promise<void> {
    const ends: Promise<void>[] = [];
    const failures: unknown[] = [];
    // A failure must not keep other runs from being continued: this process has claimed them, so nobody else continues
    // them.
    const list = async (unfinished: AsyncIterable<readonly Resume[]>) => {
      const left: Resume[] = [];
      try {
        for await (const some of unfinished) left.push(...some);
      } catch (error) {
        failures.push(error);
      }
      return left;
    };
    // All are listed before the first is resumed, because resumed runs may start new ones.
    const left = await Promise.all(this.#recoveries.map((found) => list(found())));
    for (const resume of left.flat()) {
      try {
        const resumed = await resume();
        if (resumed !== undefined) ends.push(resumed.ended);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
    await Promise.race([Promise.all(ends), this.#clock.wait(LONGEST_RECOVERY_MS)]);
  }

  /**
   * Accepts nothing new, and interrupts runs that have not finished after `drainMs`. Resolves when nothing runs any
   * more.
   */
  async drain(drainMs: number): Promise<void> {
    this.draining.end(STOPPED);
    await drained({ clock: this.#clock, drainMs, over: () => this.#over(), end: () => this.#interrupt() });
    this.stopped.end(STOPPED);
  }

  async #over(): Promise<void> {
    for (const kind of RUN_KINDS) {
      this.#closed.add(kind);
      while (this.#underWay[kind] > 0) {
        await new Promise<void>((resolve) => {
          this.#onEmpty = resolve;
        });
      }
    }
  }

  /** Newest first, because a run on behalf of another started after that one. */
  #interrupt(): void {
    this.interrupted.end(STOPPED);
    for (const run of this.#live.values().reverse()) run.interrupt();
  }

  #leave(kind: RunKind): void {
    this.#underWay[kind] -= 1;
    if (this.#underWay[kind] === 0) this.#onEmpty?.();
  }

  #put(run: ActiveRun, place: string | number): void {
    run.place = place;
    this.#live.add(place, run);
  }

  #nextNumber(): number {
    this.#lastNumber += 1;
    return this.#lastNumber;
  }
}

/** A kind of run that outlives its process. */
export interface Recoverable<Row> {
  /** The unfinished runs, oldest first, some at a time. */
  unfinished(): AsyncIterable<readonly Row[]>;
  /** Continues or ends a run. The start of a server waits for `ended`. */
  resume(row: Row): Promise<Resumed | undefined>;
}

interface Resumed {
  readonly ended: Promise<void>;
}
type Resume = () => Promise<Resumed | undefined>;

interface StartOptions {
  /** The name under which `get` finds the run. */
  readonly name: string;
  /** The place whose slot the run takes over; without one, the work requests a `turn`. */
  readonly place?: RunPlace | undefined;
}

export interface RunLoad {
  running: number;
  waiting: number;
}

// biome-ignore lint/suspicious/noExplicitAny: any constructor arguments
type RunType<Run extends ActiveRun> = abstract new (...args: any[]) => Run;

function newLoad(): RunLoad {
  return { running: 0, waiting: 0 };
}

const DEFAULT_LIMIT = 8;
/** How long the start of a server waits for the ends of interrupted runs. */
const LONGEST_RECOVERY_MS = 2_000;
const STOPPED = new Error('the server stops');
