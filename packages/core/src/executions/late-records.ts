import type { Clock } from '../ports/ports.ts';
import type { ExecutionEnd, ExecutionRow, ExecutionStore } from '../store/executions.ts';
import type { Held } from '../store/held.ts';
import type { Plan } from '../workflow/plan.ts';
import type { LiveExecution } from './live-execution.ts';

export interface LateRecordsOptions {
  readonly store: Pick<ExecutionStore, 'finish'>;
  /** Records an execution, unless it is there already. */
  readonly accept: ExecutionStore['accept'];
  readonly clock: Clock;
  /** The executions that run now. */
  readonly live: () => Iterable<LiveExecution>;
}

/**
 * Executions that change nothing, and that no caller knows of yet, are recorded once: with their end. Until then a
 * crash loses nothing that was reported.
 *
 *   started ──ends within 50 ms─────────────────────────────▶ recorded with its end, then answered
 *      └──takes longer, or a caller asks for it──▶ recorded ──▶ ended
 */
export class LateRecords {
  readonly #options: LateRecordsOptions;
  /** Executions that ended recently. A repeat of one is answered without running it again. */
  readonly #recent = new RecentNames();
  #watching = false;

  constructor(options: LateRecordsOptions) {
    this.#options = options;
  }

  /**
   * Whether an execution may be recorded as late as its end. Not with an idempotency key: it shows that the caller may
   * repeat the request.
   */
  permits({ isLight, isHarmless }: Plan, { name, row }: LiveExecution): boolean {
    return isLight && isHarmless && row.idempotencyKey === null && !this.#recent.has(name);
  }

  /** From now on executions that take too long are recorded before their end. */
  watch(): void {
    if (this.#watching) return;
    this.#watching = true;
    this.#options.clock.after(LATE_MS, () => this.#look());
  }

  /** Resolves when the execution is on the disk. Ends it if an earlier one with its name is recorded. */
  async now(live: LiveExecution): Promise<void> {
    live.recording ??= this.#options.accept(live.row);
    const { repeat } = await live.recording;
    if (repeat) live.end(REPEATED);
  }

  /** The right to write to the execution, once that is on the disk. */
  async hold(live: LiveExecution): Promise<Held> {
    await this.now(live);
    const accepted = await live.recording;
    if (accepted === undefined || accepted.repeat || accepted.held === null) throw REPEATED;
    return accepted.held;
  }

  /**
   * Records the end of an execution, together with its beginning if that is not recorded yet. Returns the earlier
   * execution if this one turns out to repeat it.
   */
  async end(live: LiveExecution, end: ExecutionEnd): Promise<ExecutionRow | undefined> {
    const { store, accept } = this.#options;
    const isLate = live.recording === undefined;
    live.recording ??= accept({ ...live.row, end });
    const accepted = await live.recording;
    if (isLate) this.#recent.add(live.name);
    if (accepted.repeat) return accepted.row;
    if (accepted.held !== null && !isLate) await store.finish(accepted.held, [], end);
    return undefined;
  }

  #look(): void {
    this.#watching = false;
    const before = this.#options.clock.now().getTime() - LATE_MS;
    for (const live of this.#options.live()) {
      if (live.recording !== undefined) continue;
      // If this fails, the end of the execution reports it.
      if (live.row.acceptedAt <= before) this.now(live).catch(() => {});
      else this.watch();
    }
  }
}

/** Remembers the `MOST_RECENT` most recent names, and up to as many older ones. */
class RecentNames {
  #names = new Set<string>();
  #before = new Set<string>();

  add(name: string): void {
    if (this.#names.size === MOST_RECENT) {
      this.#before = this.#names;
      this.#names = new Set();
    }
    this.#names.add(name);
  }

  has(name: string): boolean {
    return this.#names.has(name) || this.#before.has(name);
  }
}

const REPEATED = new Error('it was done before');
const LATE_MS = 50;
const MOST_RECENT = 5000;
