import { ANONYMOUS_KINDS } from './anonymous.ts';
import type { Damage } from './damage.ts';
import { inWindows, newestInWindows, untilNone } from './in-windows.ts';
import type { Integrity } from './integrity.ts';
import type { MemoriesStore } from './memories.ts';
import type { PinStore } from './pins.ts';
import type { PushConfigStore } from './push-configs.ts';
import type { AnonymousCursor, AnonymousWindow } from './sql/anonymous.ts';
import { type EndValues, endValues, executionValues, framesValues, requestValues } from './sql/values.ts';
import type { Questions } from './sqlite-messages.ts';
import { requireWhole } from './storable.ts';
import type {
  Accepted,
  AgentStore,
  AnonymousRange,
  AnonymousStore,
  ApiStore,
  Claimed,
  CounterStore,
  CredentialStore,
  ExecutionStore,
  ForgettingStore,
  ForgottenCounts,
  Held,
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
  WorkflowStore,
} from './store.ts';
import { type SqliteStoreOptions, startStoreThread } from './store-thread.ts';

/** Opens the store in a data folder. Rejects with a `StoreError` that names the obstacle. */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<SqliteStore> {
  return new SqliteStore(await startStoreThread(options));
}

/** Runs operations on the database: the store's thread or, for a database in memory, the calling code. */
export interface StoreOwner extends AsyncDisposable {
  /** The number of this opening of the store. */
  readonly epoch: number;
  ask<Name extends keyof Questions>(
    name: Name,
    ...values: Parameters<Questions[Name]>
  ): Promise<ReturnType<Questions[Name]>>;
  stats(): Promise<StoreStats>;
}

/** The store as calls to the owner of an SQLite database. */
export class SqliteStore implements Store {
  readonly #owner: StoreOwner;

  constructor(owner: StoreOwner) {
    this.#owner = owner;
  }

  readonly requests: RequestStore = {
    accept: async (row, beside = {}) => {
      const values = requestValues(row, beside);
      const recorded = await (beside.nonce === undefined
        ? this.#ask('accept', ...values)
        : this.#ask('acceptSigned', beside.nonce, ...values));
      if (recorded === 'reused') return { reused: true };
      if (typeof recorded === 'object') return { repeat: true, row: recorded };
      return { repeat: false, held: row.state === 'finished' ? null : this.#held(recorded) };
    },
    acceptAnswered: async (row, frames, beside) => {
      requireWhole(row, frames);
      const values = requestValues({ ...row, state: 'finished' }, beside);
      const earlier = await this.#ask('acceptAnswered', framesValues(frames), ...values);
      return earlier === null ? FINISHED : { repeat: true, row: earlier };
    },
    start: ({ id, epoch }) => this.#ask('start', id, epoch),
    append: async ({ id, epoch }, frames) => this.#ask('append', id, epoch, framesValues(frames)),
    find: (key) => this.#ask('find', key),
    earlier: ({ owner, requestId, idempotencyKey }) => this.#ask('earlier', { owner, requestId, idempotencyKey }),
    named: (requestId) => this.#ask('named', requestId),
    frames: (key, range) => this.#ask('frames', key, range),
    list: (query) => this.#ask('listRequests', query),
    claim: async (limit) => (await this.#ask('claimRequests', limit)).map((claimed) => this.#claimed(claimed)),
    noteOpen: (acceptedBefore, now) => this.#ask('noteOpen', acceptedBefore, now),
    purge: (before) => inWindows((from) => this.#ask('purge', before, from)),
  };

  readonly sessions: SessionStore = {
    create: (row) => this.#ask('createSession', row),
    list: (owner, page) => this.#ask('listSessions', owner, page),
    named: (owner, sessionId) => this.#ask('sessionsNamed', owner, sessionId),
    delete: async (key) => {
      const messages = await untilNone(() => this.#ask('deleteThread', key));
      await untilNone(() => this.#ask('deleteTurns', key));
      return (await this.#ask('deleteSession', key)) || messages > 0;
    },
    remote: (key) => this.#ask('remoteSession', key),
    setRemote: (key, remote) => this.#ask('setRemoteSession', key, remote),
    allWith: (agentId) => this.#ask('sessionsWith', agentId),
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
    add: (rows, forget) => this.#ask('addCounters', rows, forget),
  };

  readonly executions: ExecutionStore = {
    accept: async (row) => {
      const end: EndValues | [] = row.end === null ? [] : endValues(row.end);
      const recorded = await this.#ask('acceptExecution', executionValues(row), ...end);
      if (typeof recorded === 'object') return { repeat: true, row: recorded };
      return { repeat: false, held: row.end === null ? this.#held(recorded) : null };
    },
    append: (held, effects) => this.#ask('appendEffects', held, effects),
    finish: (held, effects, end) => this.#ask('finishExecution', held, effects, ...endValues(end)),
    find: (key) => this.#ask('findExecution', key),
    named: (executionId) => this.#ask('executionsNamed', executionId),
    effects: (key) => this.#ask('effects', key),
    claim: async (limit) => (await this.#ask('claimExecutions', limit)).map((claimed) => this.#claimed(claimed)),
    list: (owner, page) => newestInWindows(page.limit, (from) => this.#ask('listExecutions', owner, page, from)),
    purge: (before) => inWindows((from) => this.#ask('purgeExecutions', before, from)),
  };

  readonly storedData: StoredDataStore = {
    keep: (row, quota, by) => this.#ask('keepStored', row, quota, by),
    find: (owner, name) => this.#ask('findStored', owner, name),
    names: (owner) => this.#ask('storedNames', owner),
    list: (owner) => this.#ask('listStored', owner),
    remove: (owner, name) => this.#ask('removeStored', owner, name),
    files: () => this.#ask('storedFiles'),
  };

  readonly credentials: CredentialStore = {
    list: () => this.#ask('listCredentials'),
    seal: () => this.#ask('vaultSeal'),
    put: (rows, seal, previous) => this.#ask('putCredentials', rows, seal, previous),
    remove: (credentialId, seal, previous) => this.#ask('removeCredential', credentialId, seal, previous),
    addReceipts: (rows) => this.#ask('addReceipts', rows),
    receipts: (credentialId, limit) => this.#ask('listReceipts', credentialId, limit),
    purgeReceipts: (before) => this.#ask('purgeReceipts', before),
  };

  readonly threads: ThreadStore = {
    drop: (key) => this.#ask('dropLetter', key),
    settle: (key, answer) => this.#ask('settleLetter', key, answer),
    add: (key, addition) => this.#ask('addToLetter', key, addition),
    claim: (limit) => this.#ask('claimLetters', limit),
    sentBy: (ownerPrefix, requestId) => this.#ask('sentBy', ownerPrefix, requestId),
    has: (owner, threadId, messageId) => this.#ask('threadHas', owner, threadId, messageId),
    requestIdsAt: (owner, threadId, at) => this.#ask('requestIdsAt', owner, threadId, at),
    list: (view, range) => this.#ask('listThreads', view, range),
    page: (view, range) => this.#ask('threadPage', view, range),
    latest: (key, range) => this.#ask('latestInThread', key, range),
    purge: async ({ messages, counts }) => {
      const purged = await untilNone(() => this.#ask('purgeThreads', messages));
      await untilNone(() => this.#ask('purgeThreadEnds', counts));
      return purged;
    },
  };

  readonly outbox: OutboxStore = {
    add: (delivery) => this.#ask('addDelivery', delivery),
    find: (id) => this.#ask('findDelivery', id),
    dueBody: (id) => this.#ask('dueBody', id),
    answering: (key) => this.#ask('deliveriesAnswering', key),
    claim: (limit) => this.#ask('claimDeliveries', limit),
    delivered: (ids, at) => this.#ask('delivered', ids, at),
    failed: (id, failure, nextAt) => this.#ask('deliveryFailed', id, failure, nextAt),
    givenUp: (id, failure) => this.#ask('deliveryGivenUp', id, failure),
    gone: (id, failure) => this.#ask('receiverGone', id, failure),
    isDisabled: (owner, url) => this.#ask('isDisabled', owner, url),
    enable: (owner, url) => this.#ask('enableUrl', owner, url),
    revive: (id, at) => this.#ask('reviveDelivery', id, at),
    list: (page) => this.#ask('listDeliveries', page),
    purge: async ({ ended, gone }) =>
      (await untilNone(() => this.#ask('purgeDeliveries', ended))) +
      (await untilNone(() => this.#ask('purgeDisabledUrls', gone))),
    salt: (agentId, fresh) => this.#ask('saltOf', agentId, fresh),
    forgetSalt: (agentId) => this.#ask('forgetSalt', agentId),
  };

  readonly apis: ApiStore = {
    put: (row) => this.#ask('putApi', row),
    list: () => this.#ask('listApis'),
    remove: (apiId) => this.#ask('removeApi', apiId),
  };

  readonly workflows: WorkflowStore = {
    put: (workflow) => this.#ask('putWorkflow', workflow),
    list: () => this.#ask('listWorkflows'),
    versions: (name) => this.#ask('workflowVersions', name),
    remove: (name, at) => this.#ask('removeWorkflow', name, at),
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
    add: (row) => this.#ask('addPin', row),
    put: (row) => this.#ask('putPin', row),
    refuse: (name, hash) => this.#ask('refusePin', name, hash),
    list: () => this.#ask('listPins'),
    definition: (name) => this.#ask('pinnedDefinition', name),
  };

  readonly pushConfigs: PushConfigStore = {
    put: (config, most) => this.#ask('putPushConfig', config, most),
    find: (key, configId) => this.#ask('findPushConfig', key, configId),
    list: (key) => this.#ask('listPushConfigs', key),
    named: (name) => this.#ask('pushConfigNamed', name),
    claim: (limit) => this.#ask('claimPushConfigs', limit),
    advance: (name, to) => this.#ask('advancePush', name, to),
    remove: (key, configId) => this.#ask('removePushConfig', key, configId),
  };

  readonly registrations: RegistrationStore = {
    put: (row) => this.#ask('putRegistration', row),
    list: () => this.#ask('listRegistrations'),
    beat: (agentId, at) => this.#ask('beatRegistration', agentId, at),
    beats: (since) => this.#ask('heartbeats', since),
    remove: (agentId) => this.#ask('removeRegistration', agentId),
  };

  readonly nonces: NonceStore = {
    use: (row) => this.#ask('useNonce', row),
    forgotten: () => this.#ask('forgottenNonce'),
    count: () => this.#ask('countNonces'),
    purge: (before) => this.#ask('purgeNonces', before),
  };

  readonly forgetting: ForgettingStore = {
    request: (key) => this.#scrubbed(this.#ask('forgetRequest', key)),
    execution: (key) => this.#scrubbed(this.#ask('forgetExecution', key)),
    caller: (owner) => this.#scrubbed(this.#forgetCaller(owner)),
  };

  readonly anonymous: AnonymousStore = { sweep: (range) => this.#sweepAnonymous(range) };
  /** Everything in the database that is known to be damaged. */
  damages(): Promise<Damage[]> {
    return this.#ask('listDamages');
  }

  /** Looks for damage in pages and indexes, as `integrityOf` does. */
  integrity(): Promise<Integrity> {
    return this.#ask('integrity');
  }

  stats(): Promise<StoreStats> {
    return this.#owner.stats();
  }

  /** Finishes pending calls, moves the write-ahead log into the database, and releases the folder. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owner[Symbol.asyncDispose]();
  }

  async #forgetCaller(owner: string): Promise<ForgottenCounts> {
    let [requests, executions] = [0, 0];
    for (;;) {
      const window = await this.#ask('forgetEnded', owner);
      if (window.requests + window.executions === 0) break;
      requests += window.requests;
      executions += window.executions;
    }
    return { requests, executions, ...(await this.#ask('forgetRest', owner)) };
  }

  async #sweepAnonymous({ keepBytes, before }: AnonymousRange): Promise<number> {
    let used = 0;
    for (const { kind, share } of ANONYMOUS_KINDS) {
      let room = Math.max(0, keepBytes - used) * share;
      for (let from: AnonymousCursor | null = NEWEST; from !== null; ) {
        const window: AnonymousWindow = await this.#ask('sweepAnonymous', kind, { room, before }, from);
        used += window.used;
        room = window.room;
        from = window.next;
      }
    }
    return used;
  }

  /** Deleted data remains in the log until that is moved. */
  async #scrubbed<Result>(removing: Promise<Result>): Promise<Result> {
    const removed = await removing;
    await this.#ask('scrub');
    return removed;
  }

  #held(id: number): Held {
    return { id, epoch: this.#owner.epoch };
  }

  #claimed<Row>({ id, row }: { readonly id: number; readonly row: Row }): Claimed<Row> {
    return { row, held: this.#held(id) };
  }

  #ask<Name extends keyof Questions>(
    name: Name,
    ...values: Parameters<Questions[Name]>
  ): Promise<ReturnType<Questions[Name]>> {
    return this.#owner.ask(name, ...values);
  }
}

const NEWEST: AnonymousCursor = { at: Number.MAX_SAFE_INTEGER, number: Number.MAX_SAFE_INTEGER };
const FINISHED: Accepted = { repeat: false, held: null };
