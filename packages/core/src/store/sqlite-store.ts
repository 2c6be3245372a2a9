import { join, resolve } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { InFlight } from '@dragoman/protocols';
import type { Log } from '../ports.ts';
import { startThread } from '../threads/start-thread.ts';
import type { ExecutionAccepted } from './executions.ts';
import { inWindows, newestInWindows, untilNone } from './in-windows.ts';
import type { MemoriesStore } from './memories.ts';
import type { PinStore } from './pins.ts';
import { type EndValues, endValues, executionValues, framesValues, requestValues } from './sql/values.ts';
import { DATABASE } from './sqlite-database.ts';
import type {
  EngineModule,
  ErrorData,
  FromThread,
  MoverSetup,
  Questions,
  ThreadSetup,
  ToMover,
  ToThread,
} from './sqlite-messages.ts';
import { requireWhole } from './storable.ts';
import type {
  Accepted,
  AgentStore,
  ApiStore,
  CounterStore,
  CredentialStore,
  ExecutionStore,
  ForgettingStore,
  Forgotten,
  KeyStore,
  KnowledgeStore,
  NonceStore,
  OutboxStore,
  RegistrationStore,
  RequestStore,
  SessionStore,
  Store,
  StoredDataStore,
  StoreStats,
  ThreadStore,
} from './store.ts';
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
  const worker = startThread('sqlite-thread', { workerData: setup, name: 'dragoman store' });
  return new Promise((open, refuse) => {
    worker.on('error', refuse);
    worker.on('message', function first(message: FromThread) {
      if ('level' in message) return options.log?.[message.level](message.fields, message.message);
      worker.off('message', first).off('error', refuse);
      if ('kind' in message && message.kind === 'refused') worker.once('exit', () => refuse(errorOf(message.error)));
      else open(new SqliteStore(worker, setup, options));
    });
  });
}

/** The main thread's side: hands calls to the thread that owns the database, and its answers to those who asked. */
export class SqliteStore implements Store {
  readonly #worker: Worker;
  readonly #exited: Promise<void>;
  readonly #onFatal: (error: StoreError) => void;
  readonly #log: Log | undefined;
  readonly #pending = new InFlight<Pending, number>();
  readonly #moverSetup: MoverSetup;
  /** Starts with the first log that is long. */
  #mover: Worker | undefined;
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
    { onFatal, log }: Pick<SqliteStoreOptions, 'onFatal' | 'log'>,
  ) {
    this.#worker = worker;
    this.#moverSetup = { path: join(folder, DATABASE), engine };
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
    accept: async (row, nonce, arrival) => {
      const values = requestValues(row, arrival);
      const earlier = await (nonce === undefined
        ? this.#ask('accept', ...values)
        : this.#ask('acceptSigned', nonce, ...values));
      if (earlier === 'reused') return { reused: true };
      return earlier === null ? RECORDED : { repeat: true, row: earlier };
    },
    acceptAnswered: async (row, frames, arrival) => {
      requireWhole(row, frames);
      const values = requestValues({ ...row, state: 'finished' }, arrival);
      const earlier = await this.#ask('acceptAnswered', framesValues(frames), ...values);
      return earlier === null ? RECORDED : { repeat: true, row: earlier };
    },
    start: (key) => this.#ask('start', key),
    append: async ({ owner, requestId }, frames) => this.#ask('append', owner, requestId, framesValues(frames)),
    find: (key) => this.#ask('find', key),
    earlier: ({ owner, requestId, idempotencyKey }) => this.#ask('earlier', { owner, requestId, idempotencyKey }),
    named: (requestId) => this.#ask('named', requestId),
    frames: (key, range) => this.#ask('frames', key, range),
    unfinished: () => this.#ask('unfinished'),
    noteOpen: (acceptedBefore, now) => this.#ask('noteOpen', acceptedBefore, now),
    purge: (before) => inWindows((from) => this.#ask('purge', before, from)),
  };

  readonly sessions: SessionStore = {
    create: (row) => this.#ask('createSession', row),
    list: (owner, page) => this.#ask('listSessions', owner, page),
    delete: async (key) => {
      await untilNone(() => this.#ask('deleteTurns', key));
      return this.#ask('deleteSession', key);
    },
    owners: (session) => this.#ask('sessionOwners', session),
    turns: (key, page) => this.#ask('turns', key, page),
    purge: (before) => inWindows((from) => this.#ask('purgeSessions', before, from)),
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

  readonly executions: ExecutionStore = {
    accept: async (row) => {
      const end: EndValues | [] = row.end === null ? [] : endValues(row.end);
      const earlier = await this.#ask('acceptExecution', executionValues(row), ...end);
      return earlier === null ? NEW_EXECUTION : { repeat: true, row: earlier };
    },
    append: ({ owner, executionId }, effects) => this.#ask('appendEffects', { owner, executionId }, effects),
    finish: ({ owner, executionId }, effects, end) =>
      this.#ask('finishExecution', { owner, executionId }, effects, ...endValues(end)),
    find: (key) => this.#ask('findExecution', key),
    named: (executionId) => this.#ask('executionsNamed', executionId),
    effects: (key) => this.#ask('effects', key),
    unfinished: () => this.#ask('unfinishedExecutions'),
    list: (owner, page) => newestInWindows(page.limit, (from) => this.#ask('listExecutions', owner, page, from)),
    purge: (before) => inWindows((from) => this.#ask('purgeExecutions', before, from)),
  };

  readonly storedData: StoredDataStore = {
    keep: (row, quota, by) => this.#ask('keepStored', row, quota, by),
    find: (owner, name) => this.#ask('findStored', owner, name),
    names: (owner) => this.#ask('storedNames', owner),
    files: () => this.#ask('storedFiles'),
  };

  readonly credentials: CredentialStore = {
    list: () => this.#ask('listCredentials'),
    seal: () => this.#ask('vaultSeal'),
    put: (rows, seal) => this.#ask('putCredentials', rows, seal),
    remove: (credentialId, seal) => this.#ask('removeCredential', credentialId, seal),
    addReceipts: (rows) => this.#ask('addReceipts', rows),
    receipts: (credentialId, limit) => this.#ask('listReceipts', credentialId, limit),
    purgeReceipts: (before) => this.#ask('purgeReceipts', before),
  };

  readonly threads: ThreadStore = {
    open: (letter, message, keep) => this.#ask('openLetter', letter, message, keep),
    drop: (key) => this.#ask('dropLetter', key),
    settle: (key, answer) => this.#ask('settleLetter', key, answer),
    pending: () => this.#ask('pendingLetters'),
    sentBy: (ownerPrefix, requestId) => this.#ask('sentBy', ownerPrefix, requestId),
    has: (owner, threadId, messageId) => this.#ask('threadHas', owner, threadId, messageId),
    page: (view, range) => this.#ask('threadPage', view, range),
    latest: (key, limit) => this.#ask('latestInThread', key, limit),
    purge: (before) => untilNone(() => this.#ask('purgeThreads', before)),
  };

  readonly outbox: OutboxStore = {
    add: (delivery) => this.#ask('addDelivery', delivery),
    find: (id) => this.#ask('findDelivery', id),
    dueBody: (id) => this.#ask('dueBody', id),
    answering: (key) => this.#ask('deliveriesAnswering', key),
    due: () => this.#ask('dueDeliveries'),
    delivered: (id, at) => this.#ask('delivered', id, at),
    failed: (id, failure, nextAt) => this.#ask('deliveryFailed', id, failure, nextAt),
    givenUp: (id, failure) => this.#ask('deliveryGivenUp', id, failure),
    gone: (id, failure) => this.#ask('receiverGone', id, failure),
    isDisabled: (owner, url) => this.#ask('isDisabled', owner, url),
    revive: (id, at) => this.#ask('reviveDelivery', id, at),
    list: (page) => this.#ask('listDeliveries', page),
    purge: (before) => untilNone(() => this.#ask('purgeDeliveries', before)),
    salt: (agentId, fresh) => this.#ask('saltOf', agentId, fresh),
    forgetSalt: (agentId) => this.#ask('forgetSalt', agentId),
  };

  readonly apis: ApiStore = {
    put: (row) => this.#ask('putApi', row),
    list: () => this.#ask('listApis'),
    remove: (apiId) => this.#ask('removeApi', apiId),
  };

  readonly knowledge: KnowledgeStore = {
    put: (row) => this.#ask('putKnowledge', row),
    list: () => this.#ask('listKnowledge'),
    remove: (baseId) => this.#ask('removeKnowledge', baseId),
  };

  readonly memories: MemoriesStore = {
    open: (row, quota) => this.#ask('openMemory', row, quota),
    find: (owner, memoryId) => this.#ask('findMemory', owner, memoryId),
    put: (row, quota) => this.#ask('putMemory', row, quota),
    list: (space, now) => this.#ask('listMemory', space, now),
    remove: (space, owner, keys) => this.#ask('removeMemory', space, owner, keys),
    purge: (now) => untilNone(() => this.#ask('purgeMemory', now)),
  };

  readonly pins: PinStore = {
    put: (row) => this.#ask('putPin', row),
    list: () => this.#ask('listPins'),
  };

  readonly registrations: RegistrationStore = {
    put: (row) => this.#ask('putRegistration', row),
    list: () => this.#ask('listRegistrations'),
    beat: (agentId, at) => this.#ask('beatRegistration', agentId, at),
    remove: (agentId) => this.#ask('removeRegistration', agentId),
  };

  readonly nonces: NonceStore = {
    use: (row) => this.#ask('useNonce', row),
    latest: () => this.#ask('latestNonce'),
    count: () => this.#ask('countNonces'),
    purge: (before, at) => this.#ask('purgeNonces', before, at),
  };

  readonly forgetting: ForgettingStore = {
    request: (key) => this.#scrubbed(this.#ask('forgetRequest', key)),
    execution: (key) => this.#scrubbed(this.#ask('forgetExecution', key)),
    caller: (owner) => this.#scrubbed(this.#forgetCaller(owner)),
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
    await this.#stopMover();
  }

  async #forgetCaller(owner: string): Promise<Forgotten> {
    let [requests, executions] = [0, 0];
    for (;;) {
      const window = await this.#ask('forgetEnded', owner);
      if (window.requests + window.executions === 0) break;
      requests += window.requests;
      executions += window.executions;
    }
    return { requests, executions, ...(await this.#ask('forgetRest', owner)) };
  }

  /** What was taken out is in the log as well until that is moved. */
  async #scrubbed<Result>(removing: Promise<Result>): Promise<Result> {
    const removed = await removing;
    await this.#ask('scrub');
    return removed;
  }

  #ask<Name extends keyof Questions>(
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

  #flush(): void {
    const outgoing = this.#outgoing;
    if (outgoing.length === 0) return;
    this.#outgoing = [];
    this.#asked = 0;
    try {
      this.#worker.postMessage(outgoing);
    } catch {
      this.#flushOneByOne(outgoing);
    }
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
      for (let at = 0; at < message.length; at += 2) this.#settled(Number(message[at]))?.resolve(message[at + 1]);
    } else if (message.kind === 'failed') {
      for (const { id, error } of message.failed) this.#settled(id)?.reject(errorOf(error));
    } else if (message.kind === 'long-log') {
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
    this.#onFatal(reason);
  }
}

interface Pending {
  // biome-ignore lint/suspicious/noExplicitAny: the type of the answer is that of the question
  readonly resolve: (value: any) => void;
  readonly reject: (error: Error) => void;
}

function errorOf({ code, message }: ErrorData): Error {
  return code === undefined ? new Error(message) : new StoreError(code, message);
}

/** Calls that are worth a message of their own. */
const MANY = 12;

const RECORDED: Accepted = { repeat: false };
const NEW_EXECUTION: ExecutionAccepted = { repeat: false };
