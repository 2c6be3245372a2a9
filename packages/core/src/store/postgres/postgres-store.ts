import type { Log } from '../../ports/ports.ts';
import type { Store, StoreStats } from '../store.ts';
import {
  agentStore,
  apiStore,
  keyStore,
  knowledgeStore,
  pinStore,
  registrationStore,
  workflowStore,
} from './administration.ts';
import { anonymousStore } from './anonymous.ts';
import { counterStore } from './counters.ts';
import { credentialStore } from './credentials.ts';
import { PostgresDatabase, type Queries } from './database.ts';
import { executionStore, storedDataStore } from './executions.ts';
import { PostgresFamilies } from './families.ts';
import { forgettingStore } from './forgetting.ts';
import { memoriesStore } from './memories.ts';
import { PostgresNode } from './node.ts';
import { nonceStore } from './nonces.ts';
import { prepareSchema } from './open-database.ts';
import { outboxStore } from './outbox.ts';
import { lockOwner } from './owner-lock.ts';
import { readPostgresUrl } from './postgres-url.ts';
import { pushConfigStore } from './push-configs.ts';
import { requestStore } from './requests.ts';
import { sessionStore } from './sessions.ts';
import { threadStore } from './threads.ts';

export interface PostgresStoreOptions {
  /** `postgres://user@host/database?schema=dragoman`. */
  readonly url: string;
  readonly log?: Log | undefined;
  /** The version of this program, for the list of nodes. */
  readonly version?: string | undefined;
  /** The name of this node in that list. */
  readonly name?: string | undefined;
  /** The machine and data folder of this node, which no other node shares. Default: unknown. */
  readonly place?: string | undefined;
  readonly configDigest?: string | undefined;
  /** The URL at which other nodes reach this one. */
  readonly peerUrl?: string | undefined;
  /** The URL of PostgreSQL itself, when `url` is that of a pooler. Default: `url`. */
  readonly directUrl?: string | undefined;
  /** How long an operation waits for the database before it is refused. Default: 30 s. */
  readonly patienceMs?: number | undefined;
}

/** Opens the store in a schema of a PostgreSQL database. Rejects with a `StoreError` that names the obstacle. */
export async function connectPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  const {
    url,
    directUrl = url,
    log,
    version = '0',
    name = 'dragoman',
    place = '',
    configDigest,
    peerUrl,
    patienceMs,
  } = options;
  const address = readPostgresUrl(url);
  const direct = readPostgresUrl(directUrl);
  const serverVersion = await prepareSchema(direct, log);
  const database = new PostgresDatabase({ address, log, patienceMs });
  const node = await PostgresNode.join({ address: direct, database, log, version, name, place, configDigest, peerUrl });
  return new PostgresStore(database, node, serverVersion, log);
}

export class PostgresStore implements Store {
  readonly families;
  readonly requests;
  readonly sessions;
  readonly keys;
  readonly agents;
  readonly counters;
  readonly executions;
  readonly storedData;
  readonly credentials;
  readonly apis;
  readonly workflows;
  readonly knowledge;
  readonly threads;
  readonly outbox;
  readonly memories;
  readonly pins;
  readonly pushConfigs;
  readonly registrations;
  readonly nonces;
  readonly forgetting;
  readonly anonymous;
  readonly #database: PostgresDatabase;
  readonly cluster: PostgresNode;
  readonly #serverVersion: string;
  #lastTurn: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;

  constructor(database: PostgresDatabase, node: PostgresNode, serverVersion: string, log?: Log) {
    this.#database = database;
    this.cluster = node;
    this.#serverVersion = serverVersion;
    this.families = new PostgresFamilies(database);
    this.requests = requestStore(database, log);
    this.sessions = sessionStore(database);
    this.keys = keyStore(database, this.families);
    this.agents = agentStore(database, this.families);
    this.counters = counterStore(database);
    this.executions = executionStore(database, log);
    this.storedData = storedDataStore(database);
    this.credentials = credentialStore(database, this.families);
    this.apis = apiStore(database, this.families);
    this.workflows = workflowStore(database, this.families);
    this.knowledge = knowledgeStore(database, this.families);
    this.threads = threadStore(database);
    this.outbox = outboxStore(database, this.families);
    this.memories = memoriesStore(database);
    this.pins = pinStore(database, this.families);
    this.pushConfigs = pushConfigStore(database);
    this.registrations = registrationStore(database, this.families);
    this.nonces = nonceStore(database);
    this.forgetting = forgettingStore(database);
    this.anonymous = anonymousStore(database);
  }

  async now(): Promise<number> {
    return (await this.#database.read.get<{ now: number }>(NOW))?.now ?? 0;
  }

  /** Runs one task at a time, in this process too: each task occupies a connection while it works, and needs others. */
  inTurn<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    let outcome: PromiseSettledResult<Result> | undefined;
    const locked = async (queries: Queries) => {
      await lockOwner(queries, 'in turn', name);
      // The work runs only once, although the transaction is repeated when its connection is lost. The transaction does
      // nothing but hold the lock.
      outcome ??= (await Promise.allSettled([work()]))[0];
    };
    const done = this.#lastTurn.then(async () => {
      await this.#database.write(locked).catch((error) => {
        if (outcome === undefined) throw error;
      });
      if (outcome?.status === 'fulfilled') return outcome.value;
      throw outcome?.reason;
    });
    this.#lastTurn = done.catch(() => {});
    return done;
  }

  async stats(): Promise<StoreStats> {
    const { writes, commits, commitMs } = this.#database;
    return { driver: `postgres ${this.#serverVersion}`, writes, commits, commitMs, checkpoints: 0 };
  }

  /** Finishes pending operations, and leaves the other nodes. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#database.close().then(() => this.cluster.close());
    await this.#closing;
  }
}

const NOW = 'SELECT extract(epoch FROM clock_timestamp())::double precision * 1000 AS now';
