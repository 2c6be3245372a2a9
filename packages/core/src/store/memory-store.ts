import { RECORD_BYTES } from './anonymous.ts';
import { memoryAnonymous, type RemovableRecord } from './memory/anonymous.ts';
import { memoryApis } from './memory/apis.ts';
import { memoryCredentials } from './memory/credentials.ts';
import { MemoryExecutions } from './memory/executions.ts';
import { memoryForgetting } from './memory/forgetting.ts';
import { memoryKnowledge } from './memory/knowledge.ts';
import { memoryMemories } from './memory/memories.ts';
import { nameOf } from './memory/name-of.ts';
import { memoryNonces } from './memory/nonces.ts';
import { memoryOutbox } from './memory/outbox.ts';
import { memoryPins } from './memory/pins.ts';
import { memoryRegistrations } from './memory/registrations.ts';
import { memoryThreads } from './memory/threads.ts';
import { requireStorable, requireWhole } from './storable.ts';
import type {
  Accepted,
  AgentRow,
  AgentStore,
  CounterRow,
  CounterStore,
  Forgotten,
  FrameRow,
  KeyRow,
  KeyStore,
  RecordedWith,
  Removed,
  RequestKey,
  RequestName,
  RequestRow,
  RequestStore,
  SessionKey,
  SessionRow,
  SessionStore,
  Store,
} from './store.ts';
import { StoreError } from './store-error.ts';

/** Everything in memory, gone with the process: for embedding without durability, and for tests. */
export class MemoryStore implements Store {
  // A Map keeps the order in which things came: that breaks ties in time, as in the durable stores.
  readonly #requests = new Map<string, Recorded>();
  readonly #byIdempotencyKey = new Map<string, Recorded>();
  readonly #sessions = new Map<string, SessionRow>();
  readonly #keys = new Map<string, KeyRow>();
  readonly #agents = new Map<string, AgentRow>();
  readonly #counters = new Map<string, CounterRow>();
  #closed = false;

  readonly requests: RequestStore = {
    accept: (row, beside) => this.#perform(() => this.#accept(row, beside)),
    acceptAnswered: (row, frames, beside) => this.#perform(() => this.#acceptAnswered(row, frames, beside)),
    start: (key) =>
      this.#perform(() => {
        const recorded = this.#requests.get(nameOf(key.owner, key.requestId));
        if (recorded?.row.state !== 'accepted') return false;
        recorded.row = { ...recorded.row, state: 'started' };
        return true;
      }),
    append: (key, frames) => this.#perform(() => this.#append(key, frames)),
    find: (key) => this.#perform(() => this.#requests.get(nameOf(key.owner, key.requestId))?.row),
    earlier: (request) => this.#perform(() => this.#earlier(request)?.row),
    named: (requestId) =>
      this.#perform(() => {
        const found = [...this.#requests.values()].reverse().filter(({ row }) => row.requestId === requestId);
        return found
          .map(({ row, arrival }) => ({ ...row, arrival }))
          .sort((one, other) => other.acceptedAt - one.acceptedAt);
      }),
    frames: (key, { after, limit, maxBytes }) =>
      this.#perform(() => {
        const following = (this.#requests.get(nameOf(key.owner, key.requestId))?.frames ?? []).slice(after + 1);
        let bytes = 0;
        const end = following.findIndex((frame, index) => {
          bytes += Buffer.byteLength(frame.text);
          return index >= limit || (bytes > maxBytes && index > 0);
        });
        return end === -1 ? following : following.slice(0, end);
      }),
    unfinished: () =>
      this.#perform(() => {
        const rows = [...this.#requests.values()].map(({ row }) => row).filter(({ state }) => state !== 'finished');
        return rows.sort((a, b) => a.acceptedAt - b.acceptedAt);
      }),
    noteOpen: (acceptedBefore, now) =>
      this.#perform(() => {
        for (const recorded of this.#requests.values()) {
          const { state, acceptedAt } = recorded.row;
          if (state !== 'finished' && acceptedAt < acceptedBefore) recorded.openAt = now;
        }
      }),
    purge: (before) =>
      this.#perform(() =>
        this.#forget(({ row, openAt }) => row.state === 'finished' && Math.max(row.acceptedAt, openAt ?? 0) < before),
      ),
  };

  readonly sessions: SessionStore = {
    create: (row) =>
      this.#perform(() => {
        requireStorable(row.owner, row.agentId, row.sessionId, row.title);
        const name = nameOfSession(row);
        if (!this.#sessions.has(name)) this.#sessions.set(name, row);
      }),
    list: (owner, { offset, limit, agentId }) =>
      this.#perform(() => {
        const rows = [...this.#sessions.values()].filter(
          (row) => row.owner === owner && (agentId === undefined || row.agentId === agentId),
        );
        rows.reverse().sort((a, b) => b.updatedAt - a.updatedAt);
        return { rows: rows.slice(offset, offset + limit), total: rows.length };
      }),
    owners: ({ agentId, sessionId }) =>
      this.#perform(() => {
        const rows = [...this.#sessions.values()];
        const found = rows.filter((row) => row.agentId === agentId && row.sessionId === sessionId);
        return found.slice(0, 2).map((row) => row.owner);
      }),
    delete: (key) =>
      this.#perform(() => {
        const hadMessages = this.threads.forgetSession(key);
        if (!this.#sessions.delete(nameOfSession(key))) return hadMessages;
        this.#forget(({ row }) => row.state === 'finished' && isIn(row, key));
        for (const recorded of this.#requests.values()) {
          if (isIn(recorded.row, key)) recorded.row = { ...recorded.row, sessionId: null };
        }
        return true;
      }),
    turns: (key, { offset, limit, maxBytes, before }) =>
      this.#perform(() => {
        const turns = [...this.#requests.values()].filter(({ row }) => isIn(row, key));
        turns.reverse().sort((a, b) => b.row.acceptedAt - a.row.acceptedAt);
        // Behind none when it is not recorded yet: then all of them came before it.
        const from = 1 + turns.findIndex(({ row }) => row.requestId === before) + offset;
        const rows = turns.slice(from, from + limit).map(({ row, frames }) => ({
          requestId: row.requestId,
          envelope: row.envelope,
          final: frames.find(({ isFinal }) => isFinal)?.text ?? null,
          acceptedAt: row.acceptedAt,
        }));
        let left = maxBytes;
        const end = rows.findIndex(({ envelope, final }) => {
          left -= Buffer.byteLength(envelope) + Buffer.byteLength(final ?? '');
          return left < 0;
        });
        return { rows: end === -1 ? rows : rows.slice(0, Math.max(1, end)), total: turns.length };
      }),
    purge: (before) =>
      this.#perform(() => {
        const requests = [...this.#requests.values()];
        const old = [...this.#sessions].filter(
          ([, session]) => session.updatedAt < before && !requests.some(({ row }) => isIn(row, session)),
        );
        for (const [name] of old) this.#sessions.delete(name);
        return old.length;
      }),
  };

  readonly keys: KeyStore = {
    put: (row) => this.#perform(() => void this.#keys.set(row.keyId, row)),
    list: () =>
      this.#perform(() =>
        [...this.#keys.values()].sort((a, b) => a.createdAt - b.createdAt || compare(a.keyId, b.keyId)),
      ),
    revoke: (keyId, at) =>
      this.#perform(() => {
        const row = this.#keys.get(keyId);
        if (row === undefined || row.revokedAt !== null) return false;
        this.#keys.set(keyId, { ...row, revokedAt: at });
        return true;
      }),
  };

  readonly agents: AgentStore = {
    put: (row) => this.#perform(() => void this.#agents.set(row.agentId, row)),
    list: () =>
      this.#perform(() =>
        [...this.#agents.values()].sort((a, b) => a.createdAt - b.createdAt || compare(a.agentId, b.agentId)),
      ),
    remove: (agentId) => this.#perform(() => this.#agents.delete(agentId)),
  };

  readonly counters: CounterStore = {
    load: (since) => this.#perform(() => [...this.#counters.values()].filter(({ slice }) => slice >= since)),
    save: (rows, forget) =>
      this.#perform(() => {
        for (const row of rows) this.#counters.set(nameOf(row.principal, row.name, String(row.slice)), row);
        for (const [name, { slice }] of this.#counters) if (slice < forget) this.#counters.delete(name);
      }),
  };

  readonly credentials = memoryCredentials((operation) => this.#perform(operation));

  readonly outbox = memoryOutbox((operation) => this.#perform(operation));

  readonly threads = memoryThreads({
    perform: (operation) => this.#perform(operation),
    requests: () => [...this.#requests.values()].map(({ row }) => row),
    addDelivery: this.outbox.put,
  });

  readonly apis = memoryApis((operation) => this.#perform(operation));
  readonly knowledge = memoryKnowledge((operation) => this.#perform(operation));

  readonly memories = memoryMemories((operation) => this.#perform(operation));
  readonly pins = memoryPins((operation) => this.#perform(operation));

  readonly #executions = new MemoryExecutions((operation) => this.#perform(operation));
  readonly executions = this.#executions.executions;
  readonly storedData = this.#executions.storedData;
  readonly registrations = memoryRegistrations((operation) => this.#perform(operation));
  readonly nonces = memoryNonces((operation) => this.#perform(operation));
  readonly forgetting = memoryForgetting({
    perform: (operation) => this.#perform(operation),
    removeRequest: (key) => this.#remove(key),
    besideRequests: [this.threads, this.outbox],
    removeExecution: (key) => this.#executions.remove(key),
    families: [
      (owner) => this.#forgetCaller(owner),
      (owner) => this.#executions.forget(owner),
      (owner) => this.threads.forget(owner),
      (owner) => this.outbox.forget(owner),
      (owner) => this.memories.forget(owner),
    ],
  });

  readonly anonymous = memoryAnonymous((operation) => this.#perform(operation), {
    disabledUrls: this.outbox.disabledRecords,
    deliveries: this.outbox.records,
    requests: () => [...this.#requests.values()].map((recorded) => this.#recordOf(recorded)),
  });

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
  }

  /** Nothing here takes time, but callers must not come to rely on that. */
  async #perform<Result>(operation: () => Result): Promise<Result> {
    if (this.#closed) throw new StoreError('store_unavailable', 'The store is closed.');
    return operation();
  }

  #accept(row: RequestRow, { nonce, arrival, letter }: RecordedWith = {}): Accepted {
    requireStorable(row.owner, row.requestId, row.agentId, row.sessionId, row.idempotencyKey, row.envelope);
    requireStorable(letter?.thread?.threadId ?? null, letter?.thread?.text ?? null);
    if (nonce !== undefined && this.nonces.record(nonce) === 'reused') return { reused: true };
    const name = nameOf(row.owner, row.requestId);
    const earlier = this.#earlier(row);
    if (earlier !== undefined) return { repeat: true, row: earlier.row };
    const recorded: Recorded = { row, arrival: arrival ?? null, frames: [] };
    this.#requests.set(name, recorded);
    if (row.idempotencyKey !== null) this.#byIdempotencyKey.set(nameOf(row.owner, row.idempotencyKey), recorded);
    if (row.sessionId !== null) this.#touchSession({ ...row, sessionId: row.sessionId }, row.acceptedAt);
    if (letter !== undefined) this.threads.openLetter(row, letter);
    return { repeat: false };
  }

  #acceptAnswered(row: RequestRow, frames: readonly FrameRow[], beside?: RecordedWith): Accepted {
    requireWhole(row, frames);
    for (const { text } of frames) requireStorable(text);
    const accepted = this.#accept({ ...row, state: 'started' }, beside);
    if ('repeat' in accepted && !accepted.repeat) this.#append(row, frames);
    return accepted;
  }

  #earlier({ owner, requestId, idempotencyKey }: RequestName): Recorded | undefined {
    const named = this.#requests.get(nameOf(owner, requestId));
    if (named !== undefined || idempotencyKey === null) return named;
    return this.#byIdempotencyKey.get(nameOf(owner, idempotencyKey));
  }

  #touchSession({ owner, agentId, sessionId }: SessionKey, at: number): void {
    const name = nameOfSession({ owner, agentId, sessionId });
    const row = this.#sessions.get(name) ?? { owner, agentId, sessionId, title: null, createdAt: at, updatedAt: at };
    this.#sessions.set(name, { ...row, updatedAt: Math.max(row.updatedAt, at) });
  }

  #append(key: RequestKey, added: readonly FrameRow[]): void {
    const recorded = this.#requests.get(nameOf(key.owner, key.requestId));
    if (recorded === undefined) throw new Error(`frames for ${key.requestId}, which was never accepted`);
    let expected = recorded.frames.length;
    let ended = recorded.row.state === 'finished';
    for (const { sequence, isFinal } of added) {
      if (ended) throw new Error(`a frame of ${key.requestId} after the final one`);
      if (sequence !== expected) throw new Error(`frame ${sequence} where ${expected} was expected`);
      expected += 1;
      ended = isFinal;
    }
    for (const { text } of added) requireStorable(text);
    for (const frame of added) recorded.frames.push(frame);
    if (ended) recorded.row = { ...recorded.row, state: 'finished' };
  }

  #recordOf(recorded: Recorded): RemovableRecord {
    const { row, arrival, frames } = recorded;
    const texts = [row.owner, row.owner, row.envelope, arrival ?? '', ...frames.map(({ text }) => text)];
    return {
      owner: row.owner,
      at: row.acceptedAt,
      bytes: texts.reduce((sum, text) => sum + Buffer.byteLength(text), RECORD_BYTES),
      isOpen: row.state !== 'finished' || this.threads.owes(row),
      remove: () => void this.#forget((one) => one === recorded),
    };
  }

  #remove(key: RequestKey): Removed {
    const recorded = this.#requests.get(nameOf(key.owner, key.requestId));
    if (recorded === undefined) return 'absent';
    return this.#forget((one) => one === recorded && one.row.state === 'finished') > 0 ? 'removed' : 'under_way';
  }

  #forgetCaller(owner: string): Pick<Forgotten, 'requests' | 'sessions' | 'underWay'> {
    const requests = this.#forget(({ row }) => row.owner === owner && row.state === 'finished');
    const left = [...this.#requests.values()].filter(({ row }) => row.owner === owner);
    for (const recorded of left) recorded.row = { ...recorded.row, sessionId: null };
    const sessions = [...this.#sessions].filter(([, row]) => row.owner === owner);
    for (const [name] of sessions) this.#sessions.delete(name);
    return { requests, sessions: sessions.length, underWay: left.length };
  }

  #forget(isOld: (recorded: Recorded) => boolean): number {
    const old = [...this.#requests.values()].filter(isOld);
    for (const { row } of old) {
      this.#requests.delete(nameOf(row.owner, row.requestId));
      if (row.idempotencyKey !== null) this.#byIdempotencyKey.delete(nameOf(row.owner, row.idempotencyKey));
    }
    return old.length;
  }
}

interface Recorded {
  row: RequestRow;
  /** When it was last noted to be open. */
  openAt?: number;
  readonly arrival: string | null;
  readonly frames: FrameRow[];
}

function isIn(row: RequestRow, session: SessionKey): boolean {
  return row.owner === session.owner && row.agentId === session.agentId && row.sessionId === session.sessionId;
}

function nameOfSession({ owner, agentId, sessionId }: SessionKey): string {
  return nameOf(owner, agentId, sessionId);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : 1;
}
