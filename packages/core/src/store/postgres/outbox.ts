import { crc32 } from 'node:zlib';
import { DISABLED } from '../outbox.ts';
import {
  checkedBody,
  checkedDelivery,
  deliverySummary,
  failuresWith,
  headChecksumOf,
  isAsWritten,
  type NumberedDelivery,
  outboxPage,
  SELECT_DELIVERY,
  SELECT_DELIVERY_SUMMARY,
  SELECT_NUMBERED,
  type StoredDelivery,
  type StoredDeliverySummary,
  type StoredDue,
} from '../sql/outbox.ts';
import { requireStorable } from '../storable.ts';
import type { DeliveryFailure, DeliverySummary, NewDelivery, OutboxStore } from '../store.ts';
import { texts } from './arrays.ts';
import type { PostgresDatabase, Queries } from './database.ts';
import type { PostgresFamilies } from './families.ts';
import { GONE_NODES } from './gone.ts';
import { purgeInTurn } from './owner-lock.ts';

export function outboxStore(database: PostgresDatabase, families: PostgresFamilies): OutboxStore {
  const { read } = database;
  return {
    add: (delivery) => database.write((queries) => addDelivery(queries, database.node, delivery)),

    find: async (id) => {
      const row = await read.get<StoredDelivery>(`${SELECT_DELIVERY} WHERE id = $1`, id);
      return row === undefined ? undefined : checkedDelivery(row);
    },

    dueBody: async (id) => {
      const row = await read.get<Pick<StoredDelivery, 'body' | 'checksum'>>(
        "SELECT body, checksum FROM deliveries WHERE id = $1 AND state = 'due'",
        id,
      );
      return row === undefined ? undefined : checkedBody(id, row);
    },

    answering: async ({ owner, requestId }) =>
      (
        await read.all<StoredDelivery>(
          `${SELECT_DELIVERY} WHERE owner = $1 AND request_id = $2 ORDER BY number`,
          owner,
          requestId,
        )
      ).map(({ checksum, headChecksum, ...row }) =>
        deliverySummary(checksum === crc32(row.body) && isAsWritten(row, headChecksum) ? row : { ...row, body: null }),
      ),

    claim: async (limit) => {
      const rows = await database.write((queries) => queries.all<StoredDue>(CLAIM, database.node, limit));
      return rows.map(({ createdAt, headChecksum, ...row }) =>
        isAsWritten({ ...row, createdAt }, headChecksum) ? row : { ...row, isDamaged: true },
      );
    },

    delivered: async (ids, at) => {
      if (ids.length > 0) await database.write((queries) => queries.run(DELIVERED, at, texts([...ids].sort())));
    },

    failed: (id, failure, nextAt) =>
      database.write(async (queries) => {
        await fail(queries, id, failure, nextAt);
      }),

    givenUp: (id, failure) => database.write(async (queries) => bury(queries, await found(queries, id), failure)),

    gone: (id, failure) =>
      database.write(async (queries) => {
        const { owner, url } = await fail(queries, id, failure, null);
        await queries.run(DISABLE, owner, url, failure.at);
        const others = (await queries.all<StoredDeliverySummary>(OTHERS, owner, url, id)).map(deliverySummary);
        for (const row of others) await bury(queries, row, { at: failure.at, reason: DISABLED });
        return [id, ...others.map((row) => row.id)];
      }),

    isDisabled: async (owner, url) => (await read.get(IS_DISABLED, owner, url)) !== undefined,

    enable: async (owner, url) => (await database.write((queries) => queries.run(ENABLE, owner, url))) > 0,

    revive: (id, at) =>
      database.write(async (queries) => {
        const row = await queries.get<{ owner: string; url: string }>(REVIVE, at, database.node, id);
        if (row === undefined) return false;
        await queries.run(ENABLE, row.owner, row.url);
        return true;
      }),

    list: async ({ state = null, after = null, limit }) => {
      const rows = await read.all<NumberedDelivery>(PAGE, state, after, limit + 1);
      const { total } = (await read.get<{ total: number }>(COUNT, state)) ?? { total: 0 };
      return outboxPage(rows, { total, limit });
    },

    purge: async ({ ended, gone }) => {
      let purged = 0;
      for (const [text, before] of [
        [PURGE, ended],
        [PURGE_DISABLED, gone],
      ] as const) {
        for (let some = -1; some !== 0; purged += some) {
          some = await purgeInTurn(database, 'outbox', text, before, WINDOW);
        }
      }
      return purged;
    },

    salt: async (agentId, fresh) => {
      requireStorable(agentId, fresh);
      return database.write(async (queries) => {
        await queries.run(KEEP_SALT, agentId, fresh);
        const kept = await queries.get<{ salt: string }>('SELECT salt FROM signing_salts WHERE agent_id = $1', agentId);
        return kept?.salt ?? fresh;
      });
    },

    forgetSalt: async (agentId) => {
      const text = 'DELETE FROM signing_salts WHERE agent_id = $1';
      await families.change('agents', (queries) => queries.run(text, agentId));
    },
  };
}

/** Adds a delivery in the transaction of the caller, such as settling a letter or advancing a push. */
export async function addDelivery(queries: Queries, node: number, delivery: NewDelivery): Promise<void> {
  const { id, owner, requestId, messageId, url, body, priority, expiresAt, createdAt } = delivery;
  requireStorable(id, owner, requestId, messageId, url, body);
  const isDisabled = (await queries.get(IS_DISABLED, owner, url)) !== undefined;
  const failures = isDisabled ? [{ at: createdAt, reason: DISABLED }] : [];
  await queries.run(
    INSERT,
    ...[id, owner, requestId, messageId, url, body, priority, expiresAt, createdAt],
    ...[isDisabled ? 'dead' : 'due', JSON.stringify(failures), isDisabled ? createdAt : null],
    ...[crc32(body), headChecksumOf(delivery), node],
  );
}

/** Locks the row, so that two attempts that fail at once are both recorded. */
async function found(queries: Queries, id: string): Promise<DeliverySummary> {
  const row = await queries.get<StoredDeliverySummary>(`${SELECT_DELIVERY_SUMMARY} WHERE id = $1 FOR UPDATE`, id);
  if (row === undefined) throw new Error(`delivery ${id} was never put into the outbox`);
  return deliverySummary(row);
}

async function fail(
  queries: Queries,
  id: string,
  failure: DeliveryFailure,
  nextAt: number | null,
): Promise<DeliverySummary> {
  const row = await found(queries, id);
  const [state, endedAt] = nextAt === null ? ['dead', failure.at] : ['due', null];
  await queries.run(FAIL, state, nextAt ?? row.nextAt, failuresWith(row, failure), endedAt, id);
  return row;
}

async function bury(queries: Queries, row: DeliverySummary, failure: DeliveryFailure): Promise<void> {
  await queries.run(GIVE_UP, failuresWith(row, failure), failure.at, row.id);
}

const INSERT = `
  INSERT INTO deliveries
    (id, owner, request_id, message_id, url, body, priority, expires_at, created_at, state, attempts, next_at, failures, ended_at,
     checksum, head_checksum, holder)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0, $9, $11, $12, $13, $14, $15)
  ON CONFLICT (id) DO NOTHING`;
const CLAIM = `
  WITH left_open AS (
    SELECT number FROM deliveries WHERE state = 'due' AND holder IN (${GONE_NODES}) ORDER BY number LIMIT $2 FOR UPDATE SKIP LOCKED
  ), claimed AS (
    UPDATE deliveries d SET holder = $1 FROM left_open l WHERE d.number = l.number RETURNING d.*
  )
  SELECT id, owner, request_id AS "requestId", message_id AS "messageId", url, priority, expires_at AS "expiresAt", attempts,
    next_at AS "nextAt", created_at AS "createdAt", head_checksum AS "headChecksum"
  FROM claimed ORDER BY number`;
const DELIVERED = `
  UPDATE deliveries SET state = 'delivered', attempts = attempts + 1, ended_at = $1 WHERE id = ANY($2::text[]) AND state = 'due'`;
const FAIL = `
  UPDATE deliveries SET state = $1, attempts = attempts + 1, next_at = $2, failures = $3, ended_at = $4
  WHERE id = $5 AND state = 'due'`;
const GIVE_UP = "UPDATE deliveries SET state = 'dead', failures = $1, ended_at = $2 WHERE id = $3 AND state = 'due'";
const OTHERS = `${SELECT_DELIVERY_SUMMARY} WHERE state = 'due' AND owner = $1 AND url = $2 AND id <> $3 ORDER BY number FOR UPDATE`;
const IS_DISABLED = 'SELECT 1 FROM disabled_urls WHERE owner = $1 AND url = $2';
const DISABLE = 'INSERT INTO disabled_urls (owner, url, at) VALUES ($1, $2, $3) ON CONFLICT (owner, url) DO NOTHING';
const ENABLE = 'DELETE FROM disabled_urls WHERE owner = $1 AND url = $2';
const REVIVE = `
  UPDATE deliveries SET state = 'due', attempts = 0, next_at = $1, ended_at = NULL, holder = $2
  WHERE id = $3 AND state = 'dead' RETURNING owner, url`;
const PAGE = `
  ${SELECT_NUMBERED} WHERE ($1::text IS NULL OR state = $1) AND ($2::bigint IS NULL OR number < $2)
  ORDER BY number DESC LIMIT $3`;
const COUNT = 'SELECT count(*) AS total FROM deliveries WHERE ($1::text IS NULL OR state = $1)';
const PURGE = `
  DELETE FROM deliveries WHERE number IN (SELECT number FROM deliveries WHERE ended_at < $1 LIMIT $2)`;
// Ordered by number, because there is no index by age and the oldest were added first.
const PURGE_DISABLED = `
  DELETE FROM disabled_urls WHERE number IN (SELECT number FROM disabled_urls ORDER BY number LIMIT $2) AND at < $1`;
const KEEP_SALT = 'INSERT INTO signing_salts (agent_id, salt) VALUES ($1, $2) ON CONFLICT (agent_id) DO NOTHING';
const WINDOW = 200;
