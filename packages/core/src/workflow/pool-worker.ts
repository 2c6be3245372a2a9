import type { Worker } from 'node:worker_threads';
import { startThread } from '../worker-threads/start-thread.ts';
import type { Plan } from './plan.ts';
import {
  type FromWorker,
  OUT_OF_MEMORY,
  type RunRequest,
  remember,
  type ToWorker,
  type WorkerSetup,
} from './pool-messages.ts';

export interface PoolWorkerOptions {
  readonly setup: Omit<WorkerSetup, 'busy'>;
  readonly memoryMb: number;
  readonly onMessage: (message: FromWorker) => void;
  /** Called once, when the thread has exited. */
  readonly onExit: (why: 'memory' | 'ended' | 'broken') => void;
}

/** One worker thread that runs executions, as the main thread sees it. */
export class PoolWorker {
  readonly #worker: Worker;
  readonly #runs = new Set<number>();
  /** The hashes of the plans that the thread has compiled. */
  readonly #plans = new Map<string, true>();
  readonly #busy = new Int32Array(new SharedArrayBuffer(4));
  #exclusive = false;
  #outgoing: ToWorker[] = [];
  #why: 'memory' | 'ended' | 'broken' = 'broken';

  constructor({ setup, memoryMb, onMessage, onExit }: PoolWorkerOptions) {
    this.#worker = startThread('worker', {
      workerData: { ...setup, busy: this.#busy.buffer },
      name: 'dragoman workflows',
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
      // When this file runs from source, the thread must load the other packages from source, too.
      ...(import.meta.url.endsWith('.ts') && { execArgv: ['--conditions=dragoman:source'] }),
    });
    this.#worker.unref();
    this.#worker.on('message', (messages: readonly FromWorker[]) => {
      for (const message of messages) onMessage(message);
    });
    this.#worker.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') this.#why = 'memory';
    });
    this.#worker.once('exit', (code) => {
      if (code === OUT_OF_MEMORY) this.#why = 'memory';
      onExit(this.#why);
    });
  }

  /** The number of executions in the thread. */
  get count(): number {
    return this.#runs.size;
  }

  /**
   * The execution that computed last; 0 for none. Executions take turns, so it can be another than the one to blame.
   */
  get computing(): number {
    return this.#busy[0] ?? 0;
  }

  /** Whether the thread accepts no more executions. */
  get isClosed(): boolean {
    return this.#exclusive || this.#why === 'ended';
  }

  start(run: number, alone: boolean, plan: Plan, request: Omit<RunRequest, 'planHash' | 'workflow'>): void {
    if (this.#runs.size === 0) this.#worker.ref();
    this.#runs.add(run);
    this.#exclusive = alone;
    const isKnown = this.#plans.has(plan.hash);
    if (!isKnown) remember(this.#plans, plan.hash, true);
    const workflow = isKnown ? undefined : plan.workflow;
    this.say({ kind: 'run', run, request: { ...request, planHash: plan.hash, workflow } });
  }

  /** Releases the slot of an execution. */
  finish(run: number): void {
    this.#runs.delete(run);
    if (this.#runs.size > 0) return;
    this.#exclusive = false;
    this.#worker.unref();
  }

  say(message: ToWorker): void {
    // Sent in the next tick, so that messages of the same turn are one batch.
    if (this.#outgoing.push(message) === 1) process.nextTick(() => this.#worker.postMessage(this.#outgoing.splice(0)));
  }

  async end(): Promise<void> {
    this.#why = 'ended';
    await this.#worker.terminate();
  }
}
