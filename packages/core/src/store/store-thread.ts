import { resolve } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { InFlight } from '@dragoman/protocols';
import type { Log } from '../ports/ports.ts';
import { startThread } from '../worker-threads/start-thread.ts';
import {
  type EngineModule,
  errorOf,
  type FromThread,
  type Questions,
  type ThreadSetup,
  type ToThread,
} from './sqlite-messages.ts';
import type { StoreStats } from './store.ts';
import { StoreError } from './store-error.ts';

export interface SqliteStoreOptions {
  /** Created with access for its owner only, when it does not exist. */
  readonly folder: string;
  /**
   * Called once, when the disk has failed. Nothing is acknowledged from then on. The process should end, because only a
   * new start shows which writes are on the disk.
   */
  readonly onFatal: (error: StoreError) => void;
  readonly log?: Log;
  /** Bytes reserved on the disk for cleaning up when it is full; 0 for none. Default: 16 MiB. */
  readonly ballastBytes?: number;
  /** Open a database that has lost recorded history, or begin with an empty one beside its leftover files. Default: false. */
  readonly acceptLoss?: boolean;
  /** Replaces the SQLite driver. */
  readonly engine?: EngineModule;
}

/** Starts the thread that owns the database of a data folder. Rejects with a `StoreError` that names the obstacle. */
export async function startStoreThread(options: SqliteStoreOptions): Promise<StoreThread> {
  const { folder, ballastBytes = 16_777_216, engine, acceptLoss = false } = options;
  const closed = new Int32Array(new SharedArrayBuffer(4));
  const setup: ThreadSetup = { folder: resolve(folder), ballastBytes, engine, acceptLoss, closed };
  const worker = startThread('sqlite-thread', { workerData: setup, name: 'dragoman store' });
  return new Promise((open, refuse) => {
    worker.on('error', refuse);
    worker.on('message', function first(message: FromThread) {
      if ('level' in message) return options.log?.[message.level](message.fields, message.message);
      worker.off('message', first).off('error', refuse);
      if (!('kind' in message)) return;
      if (message.kind === 'refused') worker.once('exit', () => refuse(errorOf(message.error)));
      if (message.kind === 'ready') open(new StoreThread(worker, closed, { ...options, epoch: message.epoch }));
    });
  });
}

/** The main thread's side of the thread that owns the database: sends it calls and resolves them with its answers. */
export class StoreThread implements AsyncDisposable {
  /** The number of this opening of the store. */
  readonly epoch: number;
  readonly #worker: Worker;
  readonly #exited: Promise<void>;
  readonly #onFatal: (error: StoreError) => void;
  readonly #log: Log | undefined;
  readonly #pending = new InFlight<Pending, number>();
  /** Calls of this turn, in the format of `ToThread`. */
  #outgoing: unknown[] = [];
  #queued = 0;
  #lastId = 0;
  #state: 'open' | 'closing' | 'broken' = 'open';
  /** The error of all further calls, once the store is closed or broken. */
  #reason: StoreError | undefined;

  constructor(worker: Worker, closed: Int32Array, { epoch, onFatal, log }: StoreThreadOptions) {
    this.epoch = epoch;
    this.#worker = worker;
    this.#onFatal = onFatal;
    this.#log = log;
    this.#exited = new Promise((exited) => worker.once('exit', () => exited()));
    worker.on('message', (message: FromThread) => this.#receive(message));
    // The driver aborts the process when its thread is ended in the middle of a call, so an exit waits for the thread.
    const closeBeforeExit = () => {
      worker.postMessage('close' satisfies ToThread);
      Atomics.wait(closed, 0, 0, EXIT_MS);
    };
    process.once('exit', closeBeforeExit);
    worker.on('error', (error) => {
      process.off('exit', closeBeforeExit);
      this.#break(`The store's thread failed: ${error.message}`);
    });
    worker.on('exit', () => {
      process.off('exit', closeBeforeExit);
      if (this.#state === 'open') this.#break("The store's thread ended by itself.");
    });
    // An idle store keeps no process alive; a busy one does.
    worker.unref();
  }

  ask<Name extends keyof Questions>(
    name: Name,
    ...values: Parameters<Questions[Name]>
  ): Promise<ReturnType<Questions[Name]>> {
    if (this.#reason !== undefined) return Promise.reject(this.#reason);
    this.#lastId += 1;
    const id = this.#lastId;
    // All calls of this turn of the event loop share one message, which wakes the thread once. The first of many calls
    // are sent at once, so that the thread can start on them.
    if (this.#outgoing.length === 0) setImmediate(() => this.#flush());
    this.#outgoing.push(id, name, values.length, ...values);
    this.#queued += 1;
    if (this.#queued === MANY) this.#flush();
    return new Promise((resolve, reject) => {
      if (this.#pending.size === 0) this.#worker.ref();
      this.#pending.add(id, { resolve, reject });
    });
  }

  stats(): Promise<StoreStats> {
    return this.ask('stats');
  }

  /** Finishes pending calls, moves the write-ahead log into the database, and releases the folder. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#state === 'open') {
      this.#flush();
      this.#state = 'closing';
      this.#reason = new StoreError('store_unavailable', 'The store is closed.');
      this.#worker.postMessage('close');
    }
    this.#worker.ref();
    await this.#exited;
  }

  #flush(): void {
    const outgoing = this.#outgoing;
    if (outgoing.length === 0) return;
    this.#outgoing = [];
    this.#queued = 0;
    try {
      this.#worker.postMessage(outgoing);
    } catch {
      this.#flushOneByOne(outgoing);
    }
  }

  /** Sends each call alone, so that only a call whose values cannot be sent to a thread fails. */
  #flushOneByOne(outgoing: readonly unknown[]): void {
    for (let at = 0, end = 0; at < outgoing.length; at = end) {
      end = at + 3 + Number(outgoing[at + 2]);
      try {
        this.#worker.postMessage(outgoing.slice(at, end));
      } catch (error) {
        const id = Number(outgoing[at]);
        // Rejected later, because `ask` has not yet added the last of these calls to `#pending`.
        setImmediate(() => this.#settled(id)?.reject(error instanceof Error ? error : new Error(String(error))));
      }
    }
  }

  #receive(message: FromThread): void {
    if (!('kind' in message)) {
      for (let at = 0; at < message.length; at += 2) this.#settled(Number(message[at]))?.resolve(message[at + 1]);
    } else if (message.kind === 'failed') {
      for (const { id, error } of message.failed) this.#settled(id)?.reject(errorOf(error));
    } else if (message.kind === 'log') {
      this.#log?.[message.level](message.fields, message.message);
    } else if (message.kind === 'broken') {
      this.#break(message.error.message);
    }
  }

  #settled(id: number): Pending | undefined {
    const pending = this.#pending.remove(id);
    if (this.#pending.size === 0 && this.#state === 'open') this.#worker.unref();
    return pending;
  }

  /** No call is acknowledged any more. */
  #break(message: string): void {
    if (this.#state === 'broken') return;
    const reason = new StoreError('store_unavailable', message);
    this.#state = 'broken';
    this.#reason = reason;
    this.#outgoing = [];
    for (const { reject } of this.#pending.values()) reject(reason);
    this.#pending.clear();
    this.#onFatal(reason);
  }
}
type StoreThreadOptions = Pick<SqliteStoreOptions, 'onFatal' | 'log'> & Pick<StoreThread, 'epoch'>;

interface Pending {
  // biome-ignore lint/suspicious/noExplicitAny: the type of the answer is that of the question
  readonly resolve: (value: any) => void;
  readonly reject: (error: Error) => void;
}

/** So many calls are sent without waiting for the end of the turn. */
const MANY = 12;
/** How long an exit waits for the thread to close the database. */
const EXIT_MS = 5_000;
