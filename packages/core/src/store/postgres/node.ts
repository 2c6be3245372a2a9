import { crc32 } from 'node:zlib';
import type { Log } from '../../ports/ports.ts';
import type { ClusterStore, NodeCall, NodeLimits, NodeRow, NodeWord, OpenRequest, SharedDatabase } from '../cluster.ts';
import type { ExecutionKey } from '../executions.ts';
import type { Claimed } from '../held.ts';
import { checkedRequest, SELECT_REQUEST, type StoredRequest } from '../sql/requests.ts';
import type { RequestKey, RequestRow } from '../store.ts';
import { StoreError } from '../store-error.ts';
import { bigints, texts } from './arrays.ts';
import { dial, POOLER, type PostgresConnection } from './connection.ts';
import { readableRequests } from './damages.ts';
import type { PostgresDatabase } from './database.ts';
import { GONE_NODES } from './gone.ts';
import type { PostgresAddress } from './postgres-url.ts';
import { claimedRequest, SELECT_CLAIMED } from './requests.ts';
import { STEPS } from './schema.ts';

export interface NodeOptions {
  /** The address of PostgreSQL itself: a pooler in transaction mode does not keep a lock with its connection. */
  readonly address: PostgresAddress;
  readonly database: PostgresDatabase;
  readonly log?: Log | undefined;
  /** The version of this program. */
  readonly version: string;
  readonly name: string;
  /** The machine and data folder of this node, which no other node shares. */
  readonly place: string;
  readonly configDigest?: string | undefined;
  readonly peerUrl?: string | undefined;
}

/**
 * This process as a node. A connection of its own holds a lock under the node's number, so that the others notice a
 * crash before the time to live is over. The beats use this connection too, so that no write delays them.
 */
export class PostgresNode implements ClusterStore {
  readonly #options: NodeOptions;
  onWord: ((text: string) => void) | undefined;
  #keeper: PostgresConnection | undefined;
  #connecting: Promise<PostgresConnection> | undefined;
  #hasLock = false;
  /** The time of the last beat, by the clock of the database. */
  #lastBeat: number | undefined;
  #isClosed = false;

  private constructor(options: NodeOptions) {
    this.#options = options;
  }

  static async join(options: NodeOptions): Promise<PostgresNode> {
    const node = new PostgresNode(options);
    try {
      await node.join();
      return node;
    } catch (error) {
      await node.close();
      throw error;
    }
  }

  get node(): number {
    return this.#options.database.node;
  }

  async join(): Promise<void> {
    const { database, log, name, version, place, configDigest = null, peerUrl = null } = this.#options;
    const keeper = await this.#connected();
    const { rows } = await keeper.query(JOIN, [name, version, place, configDigest, peerUrl, STEPS.length]);
    const { id } = rows[0] as { id: number };
    // When a node joins again, its connections still belong to its previous number.
    const isFirst = database.node === 0;
    if (!isFirst) await keeper.query('UPDATE lanes SET node = $1 WHERE node = $2', [id, database.node]);
    database.node = id;
    this.#lastBeat = undefined;
    await this.#settle(keeper);
    // An earlier node in this place has ended if nobody holds its lock.
    await keeper.query(BURY_EARLIER, [place, this.node, LOCK, this.#schema]);
    // Only when it joins first: later, the previous number of this node may still look like another node.
    const { rows: others } = isFirst ? await keeper.query(SAME_PLACE, [place, this.node]) : { rows: [] };
    for (const { id: other } of others as { id: number }[]) {
      log?.warn({}, `node ${other} runs with the same data folder: give each node its own`);
    }
    await keeper.query(FORGET_GONE);
    await keeper.query(FORGET_LANES);
    await keeper.query(FORGET_LINES);
  }

  async beat(withinMs: number): Promise<number | undefined> {
    const keeper = await this.#connected();
    // If the network drops packets, this query and those on all other connections would wait for minutes.
    const timer = setTimeout(() => {
      void keeper.close();
      this.#options.database.cut();
    }, withinMs);
    try {
      const sentAt = Date.now();
      const { rows } = await keeper.query(BEAT, [this.node]);
      const receivedAt = Date.now();
      const [beat] = rows as { at: number }[];
      if (beat === undefined) return undefined;
      // Best estimate: the database read its clock half way through the query.
      await keeper.query(SKEW, [this.node, Math.round((sentAt + receivedAt) / 2 - beat.at)]);
      if (!this.#hasLock) await this.#lock(keeper);
      const silentMs = beat.at - (this.#lastBeat ?? beat.at);
      this.#lastBeat = beat.at;
      return silentMs;
    } finally {
      clearTimeout(timer);
    }
  }

  async buryDead({ ttlMs, graceMs }: NodeLimits): Promise<number[]> {
    // Not retried, and sent over the connection of the beats: if this ran later, after an outage, all other nodes would
    // look silent.
    const keeper = await this.#connected();
    const { rows } = await keeper.query(BURY_DEAD, [this.node, ttlMs, graceMs, LOCK, this.#schema]);
    return (rows as { id: number }[]).map(({ id }) => id);
  }

  async hasLeftovers(): Promise<boolean> {
    const keeper = await this.#connected();
    const { rows } = await keeper.query(LEFTOVERS);
    return (rows[0] as { found: boolean }).found;
  }

  async nodes(): Promise<NodeRow[]> {
    const rows = await this.#options.database.read.all<StoredNode>(NODES, this.node);
    return rows.map(({ requests, executions, letters, deliveries, ...row }) => ({
      ...row,
      holds: { requests, executions, letters, deliveries },
    }));
  }

  async leave(): Promise<void> {
    const keeper = await this.#connected();
    await keeper.query("UPDATE nodes SET state = 'leaving' WHERE id = $1 AND state = 'live'", [this.node]);
  }

  async database(): Promise<SharedDatabase> {
    const [row] = await this.#options.database.read.all<SharedDatabase>(DATABASE);
    if (row === undefined) throw new Error('a query with one row gave none');
    return row;
  }

  async openRequest({ owner, requestId }: RequestKey): Promise<OpenRequest | undefined> {
    return this.#options.database.read.get<OpenRequest>(OPEN_REQUEST, owner, requestId);
  }

  async openRequests(numbers: readonly number[]): Promise<OpenRequest[]> {
    return this.#options.database.read.all<OpenRequest>(OPEN_REQUESTS, bigints(numbers));
  }

  async openOf(owner: string): Promise<RequestRow[]> {
    return (await this.#options.database.read.all<StoredRequest>(OPEN_OF, owner)).map(checkedRequest);
  }

  async addLine(agentId: string): Promise<void> {
    await this.#options.database.write((queries) => queries.run(ADD_LINE, agentId, this.node));
  }

  async removeLine(agentId: string): Promise<void> {
    await this.#options.database.write((queries) => queries.run(REMOVE_LINE, agentId, this.node));
  }

  async lineOf(agentId: string): Promise<number | undefined> {
    return (await this.#options.database.read.get<{ node: number }>(LINE_OF, agentId, this.node))?.node;
  }

  takeHandedOver(): Promise<Claimed<RequestRow>[]> {
    const { database, log } = this.#options;
    return database.write(async (queries) => {
      const rows = await queries.all<StoredRequest & { epoch: number }>(TAKE_HANDED_OVER, this.node);
      return (await readableRequests(queries, rows, log)).map(claimedRequest);
    });
  }

  takeWaiting(agentId: string): Promise<(Claimed<RequestRow> & { readonly from: number })[]> {
    const { database, log } = this.#options;
    return database.write(async (queries) => {
      const rows = await queries.all<StoredRequest & { epoch: number; from: number }>(TAKE_WAITING, this.node, agentId);
      const readable = await readableRequests(queries, rows, log);
      return readable.map(({ from, ...row }) => ({ ...claimedRequest(row), from }));
    });
  }

  async holderOf({ owner, executionId }: ExecutionKey): Promise<number | undefined> {
    const { read } = this.#options.database;
    return (await read.get<{ holder: number }>(HOLDER_OF_EXECUTION, owner, executionId))?.holder;
  }

  async others(): Promise<number[]> {
    return (await this.#options.database.read.all<{ id: number }>(OTHERS, this.node)).map(({ id }) => id);
  }

  async send(words: readonly NodeWord[]): Promise<void> {
    const channels = texts(words.map(({ node }) => this.#channelOf(node)));
    const keeper = await this.#connected();
    // The notification has a transaction of its own that writes nothing, because PostgreSQL commits all transactions
    // that notify one after the other.
    await keeper.query(NOTIFY, [channels, texts(words.map(({ text }) => text))]);
  }

  async addCall(node: number, text: string): Promise<number> {
    const keeper = await this.#connected();
    return ((await keeper.query(ADD_CALL, [this.node, node, text])).rows[0] as { id: number }).id;
  }

  async takeCalls(): Promise<NodeCall[]> {
    const keeper = await this.#connected();
    await keeper.query(FORGET_CALLS);
    return [...((await keeper.query(TAKE_CALLS, [this.node])).rows as readonly NodeCall[])];
  }

  async answerCall(id: number, text: string): Promise<void> {
    const keeper = await this.#connected();
    await keeper.query('UPDATE node_calls SET answer = $2 WHERE id = $1', [id, text]);
  }

  async takeAnswers(ids: readonly number[]): Promise<Omit<NodeCall, 'caller'>[]> {
    const keeper = await this.#connected();
    return [
      ...((await keeper.query(TAKE_ANSWERS, [this.node, bigints(ids)])).rows as readonly Omit<NodeCall, 'caller'>[]),
    ];
  }

  /** Leaves the other nodes, which may now claim the work that this node still holds. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const { database } = this.#options;
    await this.#connecting?.catch(() => {});
    const timer = setTimeout(() => void this.#keeper?.close(), LAST_MS);
    if (this.#keeper?.isLost === false) {
      await this.#keeper.query('DELETE FROM agent_lines WHERE node = $1', [database.node]).catch(() => {});
      await this.#keeper.query(LEFT, [database.node]).catch(() => {});
      await this.#keeper.query('DELETE FROM lanes WHERE node = $1', [database.node]).catch(() => {});
    }
    clearTimeout(timer);
    await this.#keeper?.close();
  }

  get #schema(): string {
    return this.#options.address.schema;
  }

  async #connected(): Promise<PostgresConnection> {
    if (this.#isClosed) throw new StoreError('store_unavailable', 'The store is closed.');
    if (this.#keeper?.isLost === false) return this.#keeper;
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  async #connect(): Promise<PostgresConnection> {
    const keeper = await dial(this.#options.address, () => {});
    await keeper.script('SET synchronous_commit = off');
    keeper.onNotification((word) => this.onWord?.(word));
    if (this.node !== 0) await this.#settle(keeper);
    this.#keeper = keeper;
    return keeper;
  }

  /**
   * Takes the lock and listens under the number of this node. Without the lock the connection must not be used, because
   * another program may have the tables to itself.
   */
  async #settle(keeper: PostgresConnection): Promise<void> {
    try {
      await this.#lock(keeper);
      await keeper.script(`UNLISTEN *; LISTEN ${this.#channelOf(this.node)}`);
    } catch (error) {
      await keeper.close();
      throw error;
    }
  }

  /** All schemas of a database share its channels, so that the name depends on the schema. */
  #channelOf(node: number): string {
    return `dragoman_${crc32(this.#schema)}_${node}`;
  }

  /** Takes the node's lock. If a lost connection still holds it, each beat tries again. */
  async #lock(keeper: PostgresConnection): Promise<void> {
    const { rows } = await keeper.query(TAKE_LOCKS, [LOCK, this.#schema, this.node]);
    const { pid, isOurs, isTaken } = rows[0] as { pid: number; isOurs: boolean; isTaken: boolean };
    this.#hasLock = isTaken;
    if (!isOurs) {
      throw new StoreError(
        'store_locked',
        `A server of an earlier version, or dragoman migrate, uses the schema "${this.#schema}" of this database. Stop it, or choose another with ?schema=`,
      );
    }
    // A pooler in transaction mode hands the next statement to another connection, which does not have the lock.
    const again = await keeper.query(HAS_LOCK, [LOCK]);
    const { pid: next, held } = again.rows[0] as { pid: number; held: boolean };
    if (!held || next !== pid) throw new StoreError('store_unreachable', `${POOLER}.`);
  }
}

type StoredNode = Omit<NodeRow, 'holds'> & NodeRow['holds'];

const JOIN = `
  INSERT INTO nodes (name, version, place, config_digest, peer_url, steps, state) VALUES ($1, $2, $3, $4, $5, $6, 'live') RETURNING id`;
const BEAT = `
  UPDATE nodes SET beat_at = clock_timestamp() WHERE id = $1 AND state IN ('live', 'leaving')
  RETURNING extract(epoch FROM beat_at)::double precision * 1000 AS at`;
const SKEW = 'UPDATE nodes SET skew_ms = $2 WHERE id = $1';
const LEFT =
  "UPDATE nodes SET state = 'left', beat_at = clock_timestamp() WHERE id = $1 AND state IN ('live', 'leaving')";
/**
 * True if no connection holds the lock of the node. The check itself holds it only until the end of the transaction.
 */
const isFree = (id: string, lock: string, schema: string) =>
  `pg_try_advisory_xact_lock(${lock}, hashtext(${schema} || ' ' || ${id}))`;
const BURY_EARLIER = `
  UPDATE nodes SET state = 'dead'
  WHERE place = $1 AND place <> '' AND id <> $2 AND CASE WHEN state IN ('live', 'leaving') THEN ${isFree('id', '$3', '$4::text')} END`;
const SAME_PLACE =
  "SELECT id FROM nodes WHERE place = $1 AND place <> '' AND id <> $2 AND state IN ('live', 'leaving')";
const beforeShortest =
  "clock_timestamp() - LEAST($2::double precision, $3::double precision) * interval '1 millisecond'";
/**
 * Only the clock of the database decides. No node is declared dead when this node has been silent as well: then the
 * database or all nodes stood still.
 */
const BURY_DEAD = `
  UPDATE nodes SET state = 'dead'
  WHERE id <> $1 AND state IN ('live', 'leaving') AND beat_at < ${beforeShortest}
    AND (SELECT beat_at FROM nodes WHERE id = $1) >= ${beforeShortest} AND CASE
    WHEN beat_at < clock_timestamp() - $2::double precision * interval '1 millisecond' THEN true ELSE ${isFree('id', '$4', '$5::text')} END
  RETURNING id`;
const HELD = {
  requests: 'SELECT holder FROM open_requests',
  executions: 'SELECT holder FROM open_executions',
  letters: 'SELECT holder FROM letters',
  deliveries: "SELECT holder FROM deliveries WHERE state = 'due'",
  pushes: 'SELECT holder FROM push_configs WHERE is_over = 0',
};
const LEFTOVERS = `
  SELECT ${Object.values(HELD)
    .map((held) => `EXISTS (SELECT 1 FROM (${held}) AS held WHERE holder IN (${GONE_NODES}))`)
    .join(' OR ')} AS found`;
const held = (name: keyof typeof HELD) =>
  `(SELECT count(*) FROM (${HELD[name]}) AS held WHERE holder = n.id) AS ${name}`;
const NODES = `
  SELECT id, name, version, state, id = $1 AS "isSelf", skew_ms AS "skewMs", config_digest AS "configDigest", peer_url AS "peerUrl",
    extract(epoch FROM started_at)::double precision * 1000 AS "startedAt",
    extract(epoch FROM beat_at)::double precision * 1000 AS "beatAt",
    extract(epoch FROM clock_timestamp() - beat_at)::double precision * 1000 AS "silentMs",
    ${held('requests')}, ${held('executions')}, ${held('letters')}, ${held('deliveries')}
  FROM nodes n ORDER BY id`;
const DATABASE = `
  SELECT current_setting('server_version') AS version, current_setting('synchronous_commit') AS "synchronousCommit",
    current_setting('synchronous_standby_names') AS "synchronousStandbys",
    (SELECT version FROM schema_version) AS "schemaVersion", (SELECT count(*) FROM pg_stat_replication) AS standbys`;
const SELECT_OPEN = 'SELECT o.request, o.holder, o.next FROM open_requests o';
const OPEN_REQUEST = `${SELECT_OPEN} WHERE o.request = (SELECT id FROM requests WHERE owner = $1 AND request_id = $2)`;
const OPEN_REQUESTS = `${SELECT_OPEN} WHERE o.request = ANY($1::bigint[])`;
const OPEN_OF = `${SELECT_REQUEST} WHERE r.owner = $1 AND o.request IS NOT NULL ORDER BY r.id`;
const ADD_LINE = `
  INSERT INTO agent_lines (agent_id, node) VALUES ($1, $2)
  ON CONFLICT (agent_id, node) DO UPDATE SET since = clock_timestamp()`;
const REMOVE_LINE = 'DELETE FROM agent_lines WHERE agent_id = $1 AND node = $2';
const LINE_OF = `
  SELECT l.node FROM agent_lines l JOIN nodes n ON n.id = l.node
  WHERE l.agent_id = $1 AND l.node <> $2 AND n.state = 'live' ORDER BY l.since DESC LIMIT 1`;
const FORGET_LINES = `DELETE FROM agent_lines WHERE node IN (${GONE_NODES})`;
const TAKE_HANDED_OVER = `
  WITH claimed AS (
    UPDATE open_requests SET epoch = 1 WHERE holder = $1 AND epoch = 0 RETURNING request, epoch
  )
  ${SELECT_CLAIMED}`;
const TAKE_WAITING = `
  WITH waiting AS (
    SELECT o.request, o.holder FROM open_requests o JOIN requests r ON r.id = o.request
    WHERE o.started = 0 AND o.holder <> $1 AND r.agent_id = $2
      AND o.holder NOT IN (SELECT node FROM agent_lines WHERE agent_id = $2)
    FOR UPDATE OF o SKIP LOCKED
  ), claimed AS (
    UPDATE open_requests o SET holder = $1, epoch = o.epoch + 1 FROM waiting w WHERE o.request = w.request
    RETURNING o.request, o.epoch, w.holder AS "from"
  )
  ${SELECT_CLAIMED.replace('c.epoch', 'c.epoch, c."from"')}`;
const HOLDER_OF_EXECUTION = `
  SELECT o.holder FROM open_executions o
  WHERE o.execution = (SELECT id FROM executions WHERE owner = $1 AND execution_id = $2)`;
const OTHERS = "SELECT id FROM nodes WHERE id <> $1 AND state IN ('live', 'leaving')";
const NOTIFY = 'SELECT pg_notify(channel, word) FROM unnest($1::text[], $2::text[]) AS words (channel, word)';
const ADD_CALL = 'INSERT INTO node_calls (caller, callee, text) VALUES ($1, $2, $3) RETURNING id';
const TAKE_CALLS = `
  WITH taken AS (
    UPDATE node_calls SET is_taken = true WHERE callee = $1 AND NOT is_taken RETURNING id, caller, text
  )
  SELECT id, caller, text FROM taken ORDER BY id`;
/**
 * Checks the caller too: a crash of PostgreSQL empties the table and ids begin again, so that a call of another node
 * may have an id for which this node waits.
 */
const TAKE_ANSWERS =
  'DELETE FROM node_calls WHERE id = ANY($2::bigint[]) AND caller = $1 AND answer IS NOT NULL RETURNING id, answer AS text';
/** No caller waits for these calls any more. */
const FORGET_CALLS = "DELETE FROM node_calls WHERE at < clock_timestamp() - interval '1 minute'";
/** Deletes nodes that have been gone for a day and hold no work any more. */
const FORGET_GONE = `
  DELETE FROM nodes n WHERE state IN ('left', 'dead') AND beat_at < clock_timestamp() - interval '1 day'
    ${Object.values(HELD)
      .map((held) => `AND NOT EXISTS (SELECT 1 FROM (${held}) AS held WHERE holder = n.id)`)
      .join(' ')}`;
/** A node that is gone may still ask whether a transaction of its last connections committed. */
const FORGET_LANES = `
  DELETE FROM lanes l WHERE NOT EXISTS (
    SELECT 1 FROM nodes n WHERE n.id = l.node AND (n.state IN ('live', 'leaving') OR n.beat_at > clock_timestamp() - interval '1 hour'))`;
/** A server of a version without nodes holds the first lock exclusively. */
const TAKE_LOCKS = `
  SELECT pg_backend_pid() AS pid, pg_try_advisory_lock_shared($1, hashtext($2)) AS "isOurs",
    pg_try_advisory_lock($1, hashtext($2 || ' ' || $3::bigint)) AS "isTaken"`;
const HAS_LOCK = `
  SELECT pg_backend_pid() AS pid, EXISTS (
    SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND classid = $1 AND pid = pg_backend_pid()) AS held`;
const LAST_MS = 5_000;
/** "Drag": marks the locks of this program. Every node shares it; `dragoman migrate` holds it exclusively. */
export const LOCK = 0x44726167;
