import { resolve } from 'node:path';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import type { Log } from '../ports.ts';
import { framesValues, requestValues } from './sql/values.ts';
import type { EngineModule, ErrorData, FromThread, Questions, StoreStats, ThreadSetup } from './sqlite-messages.ts';
import type { Accepted, AgentStore, CounterStore, KeyStore, RequestStore, SessionStore, Store } from './store.ts';
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
}

/** Opens the store in a data folder. Rejects with a `StoreError` that says what stands in the way. */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<SqliteStore> {
  const { folder, ballastBytes = 16_777_216, engine } = options;
  const setup: ThreadSetup = { folder: resolve(folder), ballastBytes, engine };
  const worker = startThread(setup);
  return new Promise((open, refuse) => {
    worker.on('error', refuse);
    worker.on('message', function first(message: FromThread) {
      if ('level' in message) return options.log?.[message.level](message.fields, message.message);
      worker.off('message', first).off('error', refuse);
      if ('kind' in message && message.kind === 'refused') worker.once('exit', () => refuse(errorOf(message.error)));
      else open(new SqliteStore(worker, options));
    });
  });
}

/** The main thread's side: hands calls to the thread that owns the database, and its answers to those who asked. */
export class SqliteStore implements Store {
  readonly #worker: Worker;
  readonly #exited: Promise<void>;
  readonly #onFatal: (error: StoreError) => void;
  readonly #log: Log | undefined;
  readonly #pending = new Map<number, Pending>();
  /** Calls of this turn, as they are told in `ToThread`. */
  #outgoing: unknown[] = [];
  #lastId = 0;
  #state: 'open' | 'closing' | 'broken' = 'open';
  /** Why nothing is taken any more. */
  #reason: StoreError | undefined;

  constructor(worker: Worker, { onFatal, log }: Pick<SqliteStoreOptions, 'onFatal' | 'log'>) {
    this.#worker = worker;
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

  readonly requests: RequestStore = {
    accept: async (row) => {
      const earlier = await this.#ask('accept', ...requestValues(row));
      return earlier === null ? RECORDED : { repeat: true, row: earlier };
    },
    start: (key) => this.#ask('start', key),
    append: async ({ owner, requestId }, frames) => this.#ask('append', owner, requestId, framesValues(frames)),
    find: (key) => this.#ask('find', key),
    frames: (key, range) => this.#ask('frames', key, range),
    unfinished: () => this.#ask('unfinished'),
    purge: async (before) => {
      let total = 0;
      for (let from: number | null = 0; from !== null; ) {
        const { purged, next }: { purged: number; next: number | null } = await this.#ask('purge', before, from);
        total += purged;
        from = next;
      }
      return total;
    },
  };

  readonly sessions: SessionStore = {
    create: (row) => this.#ask('createSession', row),
    list: (owner, page) => this.#ask('listSessions', owner, page),
    delete: (key) => this.#ask('deleteSession', key),
    turns: (key, page) => this.#ask('turns', key, page),
  };

  readonly keys: KeyStore = {
    put: (row) => this.#ask('putKey', row),
    list: () => this.#ask('listKeys'),
    revoke: (keyId, at) => this.#ask('revokeKey', keyId, at),
  };

  readonly agents: AgentStore = {
    put: (row) => this.#ask('putAgent', row),
    list: () => this.#ask('listAgents'),
    remove: (agentId) => this.#ask('removeAgent', agentId),
  };

  readonly counters: CounterStore = {
    load: (since) => this.#ask('loadCounters', since),
    save: (rows, forget) => this.#ask('saveCounters', rows, forget),
  };

  stats(): Promise<StoreStats> {
    return this.#ask('stats');
  }

  /** Finishes what was asked, empties the write-ahead log into the database, and lets go of the folder. */
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

  #ask<Name extends keyof Questions>(
    name: Name,
    ...values: Parameters<Questions[Name]>
  ): Promise<ReturnType<Questions[Name]>> {
    if (this.#reason !== undefined) return Promise.reject(this.#reason);
    this.#lastId += 1;
    const id = this.#lastId;
    // After everything that is ready in this turn of the loop: all of it goes in one message, for one wake of the thread.
    if (this.#outgoing.length === 0) setImmediate(() => this.#flush());
    this.#outgoing.push(id, name, values.length, ...values);
    return new Promise((resolve, reject) => {
      if (this.#pending.size === 0) this.#worker.ref();
      this.#pending.set(id, { resolve, reject });
    });
  }

  #flush(): void {
    if (this.#outgoing.length === 0) return;
    this.#worker.postMessage(this.#outgoing);
    this.#outgoing = [];
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
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
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
    this.#onFatal(reason);
  }
}

interface Pending {
  // biome-ignore lint/suspicious/noExplicitAny: the type of the answer is that of the question
  readonly resolve: (value: any) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Built, the thread is a file like any other. From source, where Node does not read TypeScript by itself, it has to bring
 * the loader along: a loader of the main thread does not reach into others.
 */
function startThread(setup: ThreadSetup): Worker {
  const options: WorkerOptions = { workerData: setup, name: 'dragoman store', execArgv: [] };
  if (!import.meta.url.endsWith('.ts')) return new Worker(new URL('./sqlite-thread.js', import.meta.url), options);
  const source = new URL('./sqlite-thread.ts', import.meta.url);
  const code = `import { register } from '${import.meta.resolve('tsx/esm/api')}'; register(); await import('${source}');`;
  return new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`), options);
}

function errorOf({ code, message }: ErrorData): Error {
  return code === undefined ? new Error(message) : new StoreError(code, message);
}

const RECORDED: Accepted = { repeat: false };
