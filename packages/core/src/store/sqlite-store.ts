import { join, resolve } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { InFlight } from '@dragoman/protocols';
import type { Log } from '../ports.ts';
import { startThread } from '../threads/start-thread.ts';
import type { ExecutionAccepted } from './executions.ts';
import { inWindows, newestInWindows, untilNone } from './in-windows.ts';
import type { MemoriesStore } from './memories.ts';
import { NearCommits } from './near-commits.ts';
import type { PinStore } from './pins.ts';
import { type EndValues, endValues, executionValues, framesValues, requestValues } from './sql/values.ts';
import { errorData } from './sqlite-committer.ts';
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
  /** Milliseconds that only ever grow. */
  readonly elapsed?: () => number;
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
      if (!('kind' in message)) return;
      if (message.kind === 'refused') worker.once('exit', () => refuse(errorOf(message.error)));
      if (message.kind === 'ready') open(new SqliteStore(worker, { ...setup, engine: message.engine }, options));
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
    this.#countNear(1);
    return this.#ask('stats');
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

function errorOf({ code, message }: ErrorData): Error {
  return code === undefined ? new Error(message) : new StoreError(code, message);
}

/** Calls that are worth a message of their own. */
const MANY = 12;
/** Lone calls in a row that may be chance: with a few callers one is often alone, and the next are held up by it. */
const FEW = 8;
/** Commits without the thread that it is worth waking for. */
const NEAR_COUNT = 32;

const RECORDED: Accepted = { repeat: false };
const NEW_EXECUTION: ExecutionAccepted = { repeat: false };
