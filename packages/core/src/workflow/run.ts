import type { Json } from '@dragoman/protocols';
import type { WorkflowError } from '@dragoman/protocols/a2e-workflow';
import { Ending, type StopSignal } from '../ending/ending.ts';
import type { Clock } from '../ports/ports.ts';
import { failureOf, Refused } from '../refusals/refused.ts';
import { Account, type Budgets, TooLargeHere, type Within, wholeBudgets } from './budget.ts';
import { DataModel } from './data-model.ts';
import { Digest } from './digest.ts';
import type { Effects, Progress } from './effects.ts';
import type { AskMemory } from './memory-need.ts';
import { OUT_OF_TIME } from './out-of-time.ts';
import type { Plan, Step } from './plan.ts';
import type { ResultCache } from './result-cache.ts';
import { atItem, failedUrl, OverBudget, withUnknownOutcome, workflowError } from './step-error.ts';
import { type EarlierValue, type Frame, NOTHING, type Produced, StepRun } from './step-run.ts';

export interface PlanRunOptions {
  readonly effects: Effects;
  readonly clock: Pick<Clock, 'elapsed' | 'after'>;
  /** For the whole execution. The timeout of each effect is cut to the time that is left. */
  readonly timeoutMs: number;
  /** Ends the execution; its reason is a `Refused` with `cancelled` or `timeout`. */
  readonly signal?: StopSignal | undefined;
  readonly budgets?: Partial<Budgets> | undefined;
  /** Default: `stop`, which skips everything after a failed operation. */
  readonly onError?: 'stop' | 'continue' | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly cache?: ResultCache | undefined;
  /**
   * Tighter limits of this thread: a larger execution rejects with `TooLargeHere` and is run elsewhere, from the
   * beginning.
   */
  readonly within?: Within | undefined;
  /** Awaited between operations, so that others get their turn. */
  readonly breathe?: () => Promise<void> | undefined;
  readonly askMemory?: AskMemory | undefined;
}

export interface RunResult {
  readonly status: 'success' | 'partial_success' | 'error' | 'cancelled' | 'timeout';
  /** The results by operation; inside a loop, of the last item. */
  readonly results: ReadonlyMap<string, Json>;
  /** The results whose JSON text is already known. */
  readonly written: ReadonlyMap<string, string>;
  /** Operations that could have run and did not. */
  readonly skipped: readonly string[];
  readonly errors: readonly WorkflowError[];
  readonly used: Account['used'];
  /** The digest of the whole computation, equal for a repeated run. */
  readonly digest: () => string;
}

/** Runs a plan. Errors are in the result; it rejects only because of `within`. */
export function runPlan(plan: Plan, options: PlanRunOptions): Promise<RunResult> {
  return new PlanRun(plan, options).toEnd();
}

/** One execution while it runs. */
export class PlanRun {
  readonly options: PlanRunOptions;
  readonly account: Account;
  readonly ending = new Ending();
  readonly #plan: Plan;
  readonly #ends: number;
  readonly #started = new Set<string>();
  /** How often each operation ran at each place, so that each run has a unique key. */
  readonly #times = new Map<string, number>();
  /** The values of `/store`, by name. */
  readonly #lookups = new Map<string, Promise<EarlierValue | undefined>>();
  /** Whether any data has labels. Until then labels are not computed. */
  isLabelled = false;
  #stopped = false;

  constructor(plan: Plan, options: PlanRunOptions) {
    this.#plan = plan;
    this.options = options;
    this.account = new Account(wholeBudgets(options.budgets), options.within);
    this.#ends = options.clock.elapsed() + options.timeoutMs;
  }

  async toEnd(): Promise<RunResult> {
    const { clock, timeoutMs, signal } = this.options;
    const disarm = clock.after(timeoutMs, () => this.ending.end(new Refused(OUT_OF_TIME)));
    const leave = signal && this.ending.follow(signal);
    const frame: Frame = {
      model: new DataModel(),
      suffix: '',
      digest: new Digest(this.#plan.hash),
      results: new Map(),
      written: new Map(),
      errors: [],
    };
    let fatal: unknown;
    try {
      await this.sequence(this.#plan.workflow.order, frame);
    } catch (error) {
      if (error !== STOP) fatal = error;
    } finally {
      disarm();
      leave?.();
    }
    if (fatal instanceof TooLargeHere) throw fatal;
    return this.#result(frame, fatal);
  }

  /** Runs operations in order and returns the last result. */
  async sequence(ids: readonly string[], frame: Frame): Promise<Produced> {
    let last = NOTHING;
    for (const id of ids) {
      const step = this.#plan.steps.get(id);
      if (step === undefined) throw new Error(`${id} is in no plan`);
      const pause = this.options.breathe?.();
      if (pause !== undefined) await pause;
      const produced = this.#step(step, frame);
      last = produced instanceof Promise ? await produced : produced;
    }
    return last;
  }

  stepNamed(id: string): Step | undefined {
    return this.#plan.steps.get(id);
  }

  /** Milliseconds the execution may still take. */
  remaining(): number {
    return Math.max(0, this.#ends - this.options.clock.elapsed());
  }

  /** Looks up a name below `/store`, only once. */
  lookup(name: string, look: () => Promise<EarlierValue | undefined>): Promise<EarlierValue | undefined> {
    let found = this.#lookups.get(name);
    if (found === undefined) {
      found = look();
      this.#lookups.set(name, found);
    }
    return found;
  }

  #step(step: Step, frame: Frame): Produced | Promise<Produced> {
    this.#checkAlive();
    const { onProgress, clock } = this.options;
    try {
      this.account.step();
      if (step.operation.callsApi === true) this.account.apiCall();
    } catch (error) {
      return this.#failed(error, step, frame);
    }
    this.#started.add(step.id);
    const key = this.#keyOf(step.id + frame.suffix);
    const from = onProgress === undefined ? 0 : clock.elapsed();
    const stepRun = new StepRun({ run: this, step, frame, key });
    const finished = (status: 'success' | 'error', url?: string) =>
      onProgress?.({
        event: 'operation-finished',
        operationId: step.id,
        key,
        status,
        milliseconds: clock.elapsed() - from,
        ...(stepRun.isCached && { cached: true }),
        ...(url !== undefined && { url }),
        ...(stepRun.result !== undefined &&
          stepRun.result.bytes <= LONGEST_REPORTED && { value: stepRun.result.value }),
      });
    onProgress?.({ event: 'operation-started', operationId: step.id, key });
    const succeed = (produced: Produced): Produced => {
      finished('success');
      return produced;
    };
    const fail = (error: unknown): Produced => {
      // The execution runs again elsewhere, so the operation has not finished.
      if (!(error instanceof TooLargeHere)) finished('error', failedUrl(error));
      return this.#failed(error, step, frame, stepRun.isOpen);
    };
    try {
      const produced = stepRun.produce();
      return produced instanceof Promise ? produced.then(succeed, fail) : succeed(produced);
    } catch (error) {
      return fail(error);
    }
  }

  /** Records the error of an operation and decides whether the execution continues. */
  #failed(error: unknown, step: Step, frame: Frame, isOpen = false): Produced {
    // An operation inside this one failed and is recorded already.
    if (error === STOP) throw error;
    if (error instanceof TooLargeHere) {
      this.#stopped = true;
      throw error;
    }
    const ended = this.ending.aborted;
    const failed = atItem(workflowError(ended ? this.ending.reason : error, step.id), frame.item);
    if (frame.errors.length < MOST_ERRORS) frame.errors.push(ended && isOpen ? withUnknownOutcome(failed) : failed);
    this.#stopped ||= ended || error instanceof OverBudget || this.options.onError !== 'continue';
    if (this.#stopped) throw STOP;
    return NOTHING;
  }

  #checkAlive(): void {
    if (this.ending.aborted) throw this.ending.reason;
    if (this.#stopped) throw STOP;
  }

  #keyOf(place: string): string {
    const times = (this.#times.get(place) ?? 0) + 1;
    this.#times.set(place, times);
    return times === 1 ? place : `${place}#${times}`;
  }

  #result(frame: Frame, fatal: unknown): RunResult {
    const { results, written, errors } = frame;
    if (fatal !== undefined && errors.length === 0) errors.push(workflowError(fatal));
    return {
      status: this.#status(results.size, errors.length),
      results,
      written,
      skipped: this.#plan.reached.filter((id) => !this.#started.has(id)),
      errors,
      used: this.account.used,
      digest: () => frame.digest.name(),
    };
  }

  #status(succeeded: number, failed: number): RunResult['status'] {
    if (this.ending.aborted && failed > 0) {
      return failureOf(this.ending.reason)?.code === 'timeout' ? 'timeout' : 'cancelled';
    }
    if (failed === 0) return 'success';
    return succeeded > 0 ? 'partial_success' : 'error';
  }
}

/** Thrown to leave all levels of operations; the error is already recorded. */
const STOP = new Error('the execution stops here');
const MOST_ERRORS = 100;
/** Maximum bytes of a result that is reported while an execution runs: each is copied between threads. */
const LONGEST_REPORTED = 65_536;
