import { availableParallelism } from 'node:os';
import { FAILURES, type Failure, failure, InFlight } from '@dragoman/protocols';
import type { Cancel, Clock, Log } from '../ports/ports.ts';
import { failureOf } from '../refusals/refused.ts';
import { SLICE } from '../text/long-text.ts';
import { type Budgets, wholeBudgets } from './budget.ts';
import type { Progress } from './effects.ts';
import { OUT_OF_TIME } from './out-of-time.ts';
import type { Plan } from './plan.ts';
import type { EffectRequest, FromWorker, PoolResult, PortedResult } from './pool-messages.ts';
import { PoolWorker } from './pool-worker.ts';
import { RememberedEffects } from './remembered-effects.ts';
import { MemoryResultCache } from './result-cache.ts';
import { resultsText } from './results-text.ts';
import { type PlanRunOptions, runPlan } from './run.ts';
import { OverBudget, workflowError } from './step-error.ts';
import { Turns } from './turns.ts';

export interface PoolOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Maximum number of threads, which start when they are needed. Default: all cores but one. */
  readonly size?: number;
  /** The memory limit of one thread. Default: 256. */
  readonly memoryMb?: number;
  /**
   * Executions with less data than this, and only light operations, run on the main thread; 0 runs all in threads.
   * Default: 64 KiB.
   */
  readonly lightBytes?: number;
  /** Maximum number of executions in one thread at a time. Default: 32. */
  readonly perWorker?: number;
  /** The size of the result cache in each thread. Default: 32 MiB. */
  readonly cacheBytes?: number;
  /** Files with the operator's own operations. */
  readonly operations?: readonly string[];
  /** How long a thread has to end an aborted execution before it counts as stuck. Default: 250. */
  readonly graceMs?: number;
}

export interface PoolRunOptions extends Omit<PlanRunOptions, 'clock' | 'cache' | 'breathe'> {
  /** Whose cached results may be used; `undefined` for nobody's. */
  readonly caller?: string | undefined;
}

/**
 * Runs plans: small ones on the main thread, all others in worker threads, so that one that computes forever or takes
 * too much memory cannot block the server. A thread that has to be terminated also ends its other executions. They are
 * run again, and the effects that they had requested return their earlier answers.
 */
export class WorkflowPool {
  readonly #options: Required<PoolOptions>;
  readonly #workers = new Set<PoolWorker>();
  readonly #waiting: Job[] = [];
  readonly #cache: MemoryResultCache;
  readonly #turns: Turns;
  readonly #breathe = () => this.#turns.breathe();
  readonly #jobs = new InFlight<Job, number>();
  /** The executions on the main thread. */
  readonly #light = new InFlight<Job, number>();
  #lastRun = 0;
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = { ...DEFAULTS, size: Math.max(1, availableParallelism() - 1), ...options };
    const { clock, cacheBytes } = this.#options;
    this.#cache = new MemoryResultCache({ clock, maxBytes: cacheBytes });
    this.#turns = new Turns(clock, TURN_MS);
  }

  run(plan: Plan, options: PoolRunOptions): Promise<PoolResult> {
    return new Promise((settle) => {
      const { clock } = this.#options;
      const job: Job = {
        plan,
        options,
        settle,
        startedAt: clock.elapsed(),
        effects: new RememberedEffects(options.effects),
        reported: 0,
        alone: false,
        losses: 0,
        run: 0,
        worker: undefined,
        timers: [],
      };
      const reason = () => failureOf(options.signal?.reason) ?? failure('cancelled');
      if (this.#closed) return settle(endedWith(plan, failure('interrupted')));
      if (options.signal?.aborted === true) return settle(endedWith(plan, reason()));
      const abort = () => this.#end(job, reason());
      const queue = () => {
        this.#light.remove(job.run);
        if (this.#closed) return;
        if (options.signal?.aborted === true) return settle(endedWith(plan, reason()));
        options.signal?.addEventListener('abort', abort, { once: true });
        job.timers.push(() => options.signal?.removeEventListener('abort', abort));
        // The timeout is counted here: a thread would count only from its start.
        job.timers.push(clock.after(this.#left(job), () => this.#end(job, OUT_OF_TIME)));
        this.#waiting.push(job);
        this.#assign();
      };
      if (plan.isLight && this.#options.lightBytes > 0) this.#runLight(job).catch(queue);
      else queue();
    });
  }

  /** Runs a light plan on the main thread. Rejects if it turns out larger; `run` then starts it again in a thread. */
  async #runLight(job: Job): Promise<void> {
    const { clock, lightBytes } = this.#options;
    const { plan, options } = job;
    this.#lastRun += 1;
    job.run = this.#lastRun;
    this.#light.add(job.run, job);
    const { timeoutMs, signal, budgets, onError, onProgress, caller } = options;
    const { status, results, written, skipped, errors, used } = await runPlan(plan, {
      effects: job.effects,
      clock,
      timeoutMs,
      signal,
      budgets,
      onError,
      onProgress: onProgress && ((progress) => this.#emit(job, progress)),
      cache: caller === undefined ? undefined : this.#cache.of(caller),
      within: { steps: LIGHT_STEPS, dataBytes: lightBytes },
      breathe: this.#breathe,
    });
    this.#light.remove(job.run);
    job.settle({ status, results: resultsText(results, written), skipped, errors, used });
  }

  /** Clears cached results of one caller, or all. */
  forget(caller?: string): void {
    this.#cache.forget(caller);
    for (const worker of this.#workers) worker.say({ kind: 'forget', caller });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    for (const job of [...this.#waiting.splice(0), ...this.#jobs.values(), ...this.#light.values()]) {
      this.#settle(job, endedWith(job.plan, failure('interrupted')));
    }
    await Promise.all([...this.#workers].map((worker) => worker.end()));
  }

  /** Assigns waiting executions to threads with free slots. One that must run alone waits for an empty thread. */
  #assign(): void {
    while (this.#waiting.length > 0 && !this.#closed) {
      const [job] = this.#waiting;
      const worker = job === undefined ? undefined : this.#workerFor(job);
      if (job === undefined || worker === undefined) return;
      this.#waiting.shift();
      this.#start(job, worker);
    }
  }

  #workerFor(job: Job): PoolWorker | undefined {
    const { size, perWorker } = this.#options;
    const most = job.alone ? 1 : perWorker;
    let best: PoolWorker | undefined;
    for (const worker of this.#workers) {
      if (worker.isClosed || worker.count >= most) continue;
      if (best === undefined || worker.count < best.count) best = worker;
    }
    const mayStart = this.#workers.size < size;
    if (best !== undefined && (best.count === 0 || !mayStart)) return best;
    return mayStart ? this.#startWorker() : best;
  }

  #startWorker(): PoolWorker {
    const { memoryMb, operations, cacheBytes } = this.#options;
    const worker = new PoolWorker({
      setup: { operations, cacheBytes },
      memoryMb,
      onMessage: (message) => this.#receive(message),
      onExit: (why) => this.#lost(worker, why),
    });
    this.#workers.add(worker);
    return worker;
  }

  #start(job: Job, worker: PoolWorker): void {
    const { plan, options } = job;
    this.#lastRun += 1;
    job.run = this.#lastRun;
    job.worker = worker;
    job.skip = job.reported;
    this.#jobs.add(job.run, job);
    worker.start(job.run, job.alone, plan, {
      timeoutMs: this.#left(job),
      budgets: this.#budgetsOf(job),
      onError: options.onError ?? 'stop',
      tellsProgress: options.onProgress !== undefined,
      caller: options.caller,
    });
  }

  /** Limits the data to the memory of a thread. */
  #budgetsOf({ options: { budgets } }: Job): Partial<Budgets> {
    const { dataBytes } = wholeBudgets(budgets);
    return { ...budgets, dataBytes: Math.min(dataBytes, this.#options.memoryMb * 1024 * 1024) };
  }

  /** Milliseconds that the execution may still take. */
  #left({ startedAt, options }: Job): number {
    return Math.max(0, startedAt + options.timeoutMs - this.#options.clock.elapsed());
  }

  #receive(message: FromWorker): void {
    const job = this.#jobs.get(message.run);
    if (job === undefined) return;
    if (message.kind === 'end') this.#finish(job, message.result);
    else if (message.kind === 'ask') this.#answer(job, message.ask, message.effect);
    else if (job.skip !== undefined && job.skip > 0) job.skip -= 1;
    else this.#emit(job, message.progress);
  }

  #emit(job: Job, progress: Progress): void {
    job.reported += 1;
    job.options.onProgress?.(progress);
  }

  async #answer(job: Job, ask: number, effect: EffectRequest): Promise<void> {
    const { run, worker } = job;
    try {
      const value = await job.effects.answer(effect);
      worker?.say({ kind: 'answer', run, ask, value });
    } catch (error) {
      worker?.say({ kind: 'refusal', run, ask, failure: failureOf(error) ?? failure('internal') });
      if (failureOf(error) === undefined) this.#options.log.error({ error: String(error) }, 'an effect broke');
    }
  }

  /** Tells the thread to end an execution. A thread that does not do so within `graceMs` is stuck. */
  #end(job: Job, reason: Failure): void {
    if (job.worker === undefined) {
      this.#force(job, reason);
      return;
    }
    job.worker.say({ kind: 'abort', run: job.run, failure: reason });
    job.timers.push(this.#options.clock.after(this.#options.graceMs, () => this.#force(job, reason)));
  }

  /** Ends the execution and terminates its unresponsive thread. */
  #force(job: Job, reason: Failure): void {
    const { worker } = job;
    if (worker === undefined) {
      const at = this.#waiting.indexOf(job);
      if (at >= 0) this.#waiting.splice(at, 1);
    }
    if (worker !== undefined) {
      this.#options.log.warn({ reason: reason.code }, 'an execution blocked its thread; the thread was stopped');
      void worker.end();
    }
    this.#settle(job, endedWith(job.plan, reason));
  }

  /**
   * A thread has ended: its executions are run again. The one that computed last, and one that has lost two threads,
   * runs alone. One that was already alone caused the failure itself, and fails.
   */
  #lost(worker: PoolWorker, why: 'memory' | 'ended' | 'broken'): void {
    this.#workers.delete(worker);
    if (why !== 'ended') this.#options.log.warn({ why }, 'a thread of executions failed');
    for (const job of this.#jobs.values().filter((each) => each.worker === worker)) {
      this.#jobs.remove(job.run);
      job.worker = undefined;
      job.losses += 1;
      if (job.alone && why !== 'ended') this.#settle(job, why === 'memory' ? this.#tooLarge(job) : broken(job.plan));
      else {
        job.alone = worker.computing === job.run || job.losses > 1;
        this.#waiting.unshift(job);
      }
    }
    this.#assign();
  }

  /** An execution has ended in its thread. */
  #finish(job: Job, result: PortedResult): void {
    const { results } = result;
    const { buffer, byteOffset, byteLength } = results;
    const isLong = byteLength > SLICE;
    this.#settle(job, {
      ...result,
      results: isLong ? results : Buffer.from(buffer, byteOffset, byteLength).toString(),
    });
  }

  #settle(job: Job, result: PoolResult): void {
    this.#leave(job);
    job.settle(result);
    this.#assign();
  }

  #leave(job: Job): void {
    this.#jobs.remove(job.run);
    job.worker?.finish(job.run);
    job.worker = undefined;
    for (const cancel of job.timers.splice(0)) cancel();
  }

  #tooLarge({ plan }: Job): PoolResult {
    const message = `The execution took more than ${this.#options.memoryMb} MB of memory.`;
    const suggestions = ['select the fields that are needed, or filter earlier'];
    const error = new OverBudget(message, { details: { budget: 'memory' }, suggestions });
    return { ...endedWith(plan, failure('internal')), status: 'error', errors: [workflowError(error)] };
  }
}

/** One execution, across all of its runs. */
interface Job {
  readonly plan: Plan;
  readonly options: PoolRunOptions;
  readonly settle: (result: PoolResult) => void;
  readonly startedAt: number;
  readonly effects: RememberedEffects;
  readonly timers: Cancel[];
  /** How many progress events were reported, and how many of the next ones repeat them. */
  reported: number;
  skip?: number;
  alone: boolean;
  losses: number;
  run: number;
  worker: PoolWorker | undefined;
}

/** An execution that ended without a result. */
function endedWith({ reached }: Plan, reason: Failure): PoolResult {
  const status = reason.code === 'timeout' ? 'timeout' : reason.code === 'cancelled' ? 'cancelled' : 'error';
  return {
    status,
    results: '{}',
    skipped: [...reached],
    errors: [workflowError({ failure: reason })],
    used: { steps: 0, apiCalls: 0, dataBytes: 0 },
  };
}

function broken(plan: Plan): PoolResult {
  return endedWith(plan, failure('internal', {}, FAILURES.internal.text));
}

/** Maximum number of steps of an execution on the main thread. */
const LIGHT_STEPS = 64;
/** How long executions on the main thread compute before they yield. */
const TURN_MS = 4;
const DEFAULTS = {
  memoryMb: 256,
  lightBytes: 65_536,
  perWorker: 32,
  cacheBytes: 33_554_432,
  operations: [] as readonly string[],
  graceMs: 250,
};
