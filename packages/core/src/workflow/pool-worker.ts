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

/** The main thread's side of one thread of executions. */
export class PoolWorker {
  readonly #worker: Worker;
  readonly #runs = new Set<number>();
  /** The plans it has compiled. */
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
      // From source, the other packages are read from source too.
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

  /** Executions in it. */
  get count(): number {
    return this.#runs.size;
  }

  /** The execution that computed last; 0 for none. Executions take turns, so it can be another than the one to blame. */
  get computing(): number {
    return this.#busy[0] ?? 0;
  }

  /** Takes no other execution. */
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

  /** It is over, as far as we are concerned. */
  finish(run: number): void {
    this.#runs.delete(run);
    if (this.#runs.size > 0) return;
    this.#exclusive = false;
    this.#worker.unref();
  }

  say(message: ToWorker): void {
    // After the resolved promises, so that their messages are in the same batch.
    if (this.#outgoing.push(message) === 1) process.nextTick(() => this.#worker.postMessage(this.#outgoing.splice(0)));
  }

  async end(): Promise<void> {
    this.#why = 'ended';
    await this.#worker.terminate();
  }
}
