import { join, resolve } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { InFlight } from '@dragoman/protocols';
import type { Log } from '../ports.ts';
import { startThread } from '../threads/start-thread.ts';
import { NearCommits } from './near-commits.ts';
import { errorData } from './sqlite-committer.ts';
import { DATABASE } from './sqlite-database.ts';
import {
  type EngineModule,
  type ErrorData,
  errorOf,
  type FromThread,
  type MoverSetup,
  type Questions,
  type ThreadSetup,
  type ToMover,
  type ToThread,
} from './sqlite-messages.ts';
import type { StoreStats } from './store.ts';
import { StoreError } from './store-error.ts';

export interface SqliteStoreOptions {
  /** Made, for its owner only, when it does not exist. */
  readonly folder: string;
  /**
   * Called once, when the disk failed: from then on nothing is acknowledged, and the process should end, because only a
   * fresh start tells what is on the disk.
   */
  readonly onFatal: (error: StoreError) => void;
  readonly log?: Log;
  /** Kept back on the disk for cleaning up when it is full; 0 for none. 16 MiB unless told. */
  readonly ballastBytes?: number;
  /** In place of the SQLite driver. */
  readonly engine?: EngineModule;
  /** Milliseconds that only ever grow. */
  readonly elapsed?: () => number;
}

/** Starts the thread that owns the database of a data folder. Rejects with a `StoreError` that says what stands in the way. */
export async function startStoreThread(options: SqliteStoreOptions): Promise<StoreThread> {
  const { folder, ballastBytes = 16_777_216, engine } = options;
  const setup: ThreadSetup = { folder: resolve(folder), ballastBytes, engine };
  const worker = startThread('sqlite-thread', { workerData: setup, name: 'dragoman store' });
  return new Promise((open, refuse) => {
    worker.on('error', refuse);
    worker.on('message', function first(message: FromThread) {
      if ('level' in message) return options.log?.[message.level](message.fields, message.message);
      worker.off('message', first).off('error', refuse);
      if (!('kind' in message)) return;
      if (message.kind === 'refused') worker.once('exit', () => refuse(errorOf(message.error)));
      if (message.kind === 'ready') open(new StoreThread(worker, { ...setup, engine: message.engine }, options));
    });
  });
}

/** The main thread's side: hands calls to the thread that owns the database, and its answers to those who asked. */
export class StoreThread implements AsyncDisposable {
  readonly #worker: Worker;
  readonly #exited: Promise<void>;
  readonly #onFatal: (error: StoreError) => void;
  readonly #log: Log | undefined;
  readonly #pending = new InFlight<Pending, number>();
  readonly #moverSetup: MoverSetup;
  readonly #elapsed: () => number;
  readonly #near: NearCommits;
  /** What the thread was asked when nobody else asked for anything. */
  #lone: { readonly id: number; readonly name: string; readonly from: number } | undefined;
  #loneInARow = 0;
  /** Starts with the first log that is long. */
  #mover: Worker | undefined;
  #isMoving = false;
  /** Calls of this turn, as they are told in `ToThread`. */
  #outgoing: unknown[] = [];
  #asked = 0;
  #lastId = 0;
  #state: 'open' | 'closing' | 'broken' = 'open';
  /** Why nothing is taken any more. */
  #reason: StoreError | undefined;

  constructor(
    worker: Worker,
    { folder, engine }: ThreadSetup,
    { onFatal, log, elapsed = () => performance.now() }: Pick<SqliteStoreOptions, 'onFatal' | 'log' | 'elapsed'>,
  ) {
    this.#worker = worker;
    this.#moverSetup = { path: join(folder, DATABASE), engine };
    this.#elapsed = elapsed;
    this.#near = new NearCommits({ ...this.#moverSetup, elapsed });
    this.#onFatal = onFatal;
    this.#log = log;
    this.#exited = new Promise((exited) => worker.once('exit', () => exited()));
    worker.on('message', (message: FromThread) => this.#receive(message));
    worker.on('error', (error) => this.#break(`The store's thread failed: ${error.message}`));
    worker.on('exit', () => {
      if (this.#state === 'open') this.#break("The store's thread ended by itself.");
    });
    // An idle store keeps no process alive; one with work to do, does.
    worker.unref();
  }

  ask<Name extends keyof Questions>(
    name: Name,
    ...values: Parameters<Questions[Name]>
  ): Promise<ReturnType<Questions[Name]>> {
    if (this.#reason !== undefined) return Promise.reject(this.#reason);
    this.#lastId += 1;
    const id = this.#lastId;
    // What is ready in this turn of the loop goes in one message, for one wake of the thread. When there is much of it, the
    // thread begins with the first: else it would wait for us, and then we for it.
    if (this.#outgoing.length === 0) setImmediate(() => this.#flush());
    this.#outgoing.push(id, name, values.length, ...values);
    this.#asked += 1;
    if (this.#asked === MANY) this.#flush();
    return new Promise((resolve, reject) => {
      if (this.#pending.size === 0) this.#worker.ref();
      this.#pending.add(id, { resolve, reject });
    });
  }

  stats(): Promise<StoreStats> {
    this.#countNear(1);
    return this.ask('stats');
  }

  /** Finishes what was asked, empties the write-ahead log into the database, and lets go of the folder. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#state === 'open') {
      this.#flush();
      this.#state = 'closing';
      this.#reason = new StoreError('store_unavailable', 'The store is closed.');
      this.#near.close();
      this.#worker.postMessage('close');
    }
    this.#worker.ref();
    await this.#exited;
    await this.#stopMover();
  }

  #flush(): void {
    const outgoing = this.#outgoing;
    if (outgoing.length === 0) return;
    const isLone = this.#asked === 1 && this.#pending.size === 1;
    this.#outgoing = [];
    this.#asked = 0;
    this.#loneInARow = isLone ? this.#loneInARow + 1 : 0;
    if (isLone) {
      if (this.#loneInARow > FEW && this.#commitNear(outgoing)) return;
      this.#lone = { id: Number(outgoing[0]), name: String(outgoing[1]), from: this.#elapsed() };
    }
    try {
      this.#worker.postMessage(outgoing);
    } catch {
      this.#flushOneByOne(outgoing);
    }
  }

  /** Whether it is done, and need not be asked of the thread. */
  #commitNear([id, name, , ...values]: readonly unknown[]): boolean {
    // While the log is moved it is the thread's to say how much may be added to it.
    if (this.#isMoving || !this.#near.takes(String(name), values)) return false;
    try {
      const committed = this.#near.commit(String(name), values);
      if (committed === undefined) return false;
      this.#settled(Number(id))?.resolve(committed.value);
      this.#countNear(NEAR_COUNT);
    } catch (error) {
      this.#break(errorData(error).message);
      this.#worker.postMessage('broken' satisfies ToThread);
    }
    return true;
  }

  /** The thread moves the log, and should know how long it has become. */
  #countNear(least: number): void {
    const counted = this.#near.count(least);
    if (counted !== undefined) this.#worker.postMessage(counted satisfies ToThread);
  }

  #noteLone(id: number, isGood: boolean): void {
    if (id !== this.#lone?.id) return;
    this.#near.note(this.#lone.name, isGood ? this.#elapsed() - this.#lone.from : Number.POSITIVE_INFINITY);
    this.#lone = undefined;
  }

  /** Some value can be sent to no thread: whoever asked with it fails, and nobody beside them. */
  #flushOneByOne(outgoing: readonly unknown[]): void {
    for (let at = 0, end = 0; at < outgoing.length; at = end) {
      end = at + 3 + Number(outgoing[at + 2]);
      try {
        this.#worker.postMessage(outgoing.slice(at, end));
      } catch (error) {
        const id = Number(outgoing[at]);
        // Later, for the last of them is still being asked.
        setImmediate(() => this.#settled(id)?.reject(error instanceof Error ? error : new Error(String(error))));
      }
    }
  }

  #receive(message: FromThread): void {
    if (!('kind' in message)) {
      for (let at = 0; at < message.length; at += 2) {
        const id = Number(message[at]);
        this.#noteLone(id, true);
        this.#settled(id)?.resolve(message[at + 1]);
      }
    } else if (message.kind === 'failed') {
      for (const { id, error } of message.failed) {
        this.#noteLone(id, false);
        this.#settled(id)?.reject(errorOf(error));
      }
    } else if (message.kind === 'long-log') {
      this.#isMoving = true;
      this.#mover ??= this.#startMover();
      this.#mover.ref();
      this.#mover.postMessage('move' satisfies ToMover);
    } else if (message.kind === 'log') {
      this.#log?.[message.level](message.fields, message.message);
    } else if (message.kind === 'broken') {
      this.#break(message.error.message);
    }
  }

  #startMover(): Worker {
    const mover = startThread('log-thread', { workerData: this.#moverSetup, name: 'dragoman store log' });
    mover.on('message', (moved: ErrorData | null) => {
      mover.unref();
      this.#isMoving = false;
      this.#worker.postMessage({ moved } satisfies ToThread);
    });
    mover.on('error', (error) => this.#break(`The thread of the store's log failed: ${error.message}`));
    return mover;
  }

  /** Told to end, and waited for: the driver does not survive that its thread is ended while it works. */
  async #stopMover(): Promise<void> {
    const mover = this.#mover;
    if (mover === undefined) return;
    const exited = new Promise((exit) => mover.once('exit', exit));
    mover.ref();
    mover.postMessage('close' satisfies ToMover);
    await exited;
  }

  #settled(id: number): Pending | undefined {
    const pending = this.#pending.remove(id);
    if (this.#pending.size === 0 && this.#state === 'open') this.#worker.unref();
    return pending;
  }

  /** From here on nothing is acknowledged. */
  #break(message: string): void {
    if (this.#state === 'broken') return;
    const reason = new StoreError('store_unavailable', message);
    this.#state = 'broken';
    this.#reason = reason;
    this.#outgoing = [];
    for (const { reject } of this.#pending.values()) reject(reason);
    this.#pending.clear();
    this.#near.close();
    this.#onFatal(reason);
  }
}
interface Pending {
  // biome-ignore lint/suspicious/noExplicitAny: the type of the answer is that of the question
  readonly resolve: (value: any) => void;
  readonly reject: (error: Error) => void;
}

/** Calls that are worth a message of their own. */
const MANY = 12;
/** Lone calls in a row that may be chance: with a few callers one is often alone, and the next are held up by it. */
const FEW = 8;
/** Commits without the thread that it is worth waking for. */
const NEAR_COUNT = 32;
