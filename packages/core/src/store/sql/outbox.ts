import { crc32 } from 'node:zlib';
import { DISABLED, MAX_FAILURES } from '../outbox.ts';
import type { Database } from '../sqlite-engine.ts';
import { requireStorable } from '../storable.ts';
import type {
  DeliveryFailure,
  DeliveryRow,
  DeliverySummary,
  DueDelivery,
  NewDelivery,
  OutboxPage,
  OutboxQuery,
  RequestKey,
  ShownDelivery,
} from '../store.ts';
import { StoreError } from '../store-error.ts';
import { epochOf } from './commits.ts';

export function outboxReads(database: Database) {
  const byId = database.prepare(`${SELECT_DELIVERY} WHERE id = ?`);
  const body = database.prepare("SELECT body, checksum FROM deliveries WHERE id = ? AND state = 'due'");
  const answering = database.prepare(`${SELECT_DELIVERY} WHERE owner = ? AND request_id = ? ORDER BY number`);
  const disabled = database.prepare('SELECT 1 FROM disabled_urls WHERE owner = ? AND url = ?');
  const page = database.prepare(`${SELECT_NUMBERED} WHERE number < ? ORDER BY number DESC LIMIT ?`);
  const count = database.prepare('SELECT count(*) AS total FROM deliveries');
  const pageIn = database.prepare(`${SELECT_NUMBERED} WHERE state = ? AND number < ? ORDER BY number DESC LIMIT ?`);
  const countIn = database.prepare('SELECT count(*) AS total FROM deliveries WHERE state = ?');

  return {
    findDelivery(id: string): DeliveryRow | undefined {
      const row = byId.get(id) as StoredDelivery | undefined;
      return row === undefined ? undefined : checkedDelivery(row);
    },

    dueBody(id: string): string | undefined {
      const row = body.get(id) as Pick<StoredDelivery, 'body' | 'checksum'> | undefined;
      return row === undefined ? undefined : checkedBody(id, row);
    },

    deliveriesAnswering: ({ owner, requestId }: RequestKey): ShownDelivery[] =>
      (answering.all(owner, requestId) as StoredDelivery[]).map(({ checksum, headChecksum, ...row }) =>
        deliverySummary(checksum === crc32(row.body) && isAsWritten(row, headChecksum) ? row : { ...row, body: null }),
      ),

    isDisabled: (owner: string, url: string): boolean => disabled.get(owner, url) !== undefined,

    listDeliveries({ state, after = Number.MAX_SAFE_INTEGER, limit }: OutboxQuery): OutboxPage {
      const rows = state === undefined ? page.all(after, limit + 1) : pageIn.all(state, after, limit + 1);
      const { total } = (state === undefined ? count.get() : countIn.get(state)) as { total: number };
      return outboxPage(rows as NumberedDelivery[], { total, limit });
    },
  };
}

export function outboxWrites(database: Database) {
  const epoch = epochOf(database);
  const unclaimed = database.prepare(`
    SELECT id, owner, request_id AS "requestId", message_id AS "messageId", url, priority, expires_at AS "expiresAt", attempts,
      next_at AS "nextAt", created_at AS "createdAt", head_checksum AS "headChecksum"
    FROM deliveries WHERE state = 'due' AND epoch < ? ORDER BY number LIMIT ?`);
  const claim = database.prepare(`UPDATE deliveries SET epoch = ${epoch} WHERE id = ?`);
  const disabled = database.prepare('SELECT 1 FROM disabled_urls WHERE owner = ? AND url = ?');
  const insert = database.prepare(`
    INSERT INTO deliveries
      (id, owner, request_id, message_id, url, body, priority, expires_at, created_at, state, attempts, next_at, failures,
       ended_at, checksum, head_checksum, epoch)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ${epoch})
    ON CONFLICT (id) DO NOTHING`);
  const byId = database.prepare(`${SELECT_DELIVERY_SUMMARY} WHERE id = ?`);
  const deliver = database.prepare(
    "UPDATE deliveries SET state = 'delivered', attempts = attempts + 1, ended_at = ? WHERE id = ? AND state = 'due'",
  );
  const fail = database.prepare(`
    UPDATE deliveries SET state = ?, attempts = attempts + 1, next_at = ?, failures = ?, ended_at = ?
    WHERE id = ? AND state = 'due'`);
  const disable = database.prepare(
    'INSERT INTO disabled_urls (owner, url, at) VALUES (?, ?, ?) ON CONFLICT (owner, url) DO NOTHING',
  );
  const enable = database.prepare('DELETE FROM disabled_urls WHERE owner = ? AND url = ?');
  const others = database.prepare(
    `${SELECT_DELIVERY_SUMMARY} WHERE state = 'due' AND owner = ? AND url = ? AND id <> ?`,
  );
  const giveUp = database.prepare(
    "UPDATE deliveries SET state = 'dead', failures = ?, ended_at = ? WHERE id = ? AND state = 'due'",
  );
  const revive = database.prepare(
    `UPDATE deliveries SET state = 'due', attempts = 0, next_at = ?, ended_at = NULL, epoch = ${epoch}
    WHERE id = ? AND state = 'dead'`,
  );
  const keepSalt = database.prepare(
    'INSERT INTO signing_salts (agent_id, salt) VALUES (?, ?) ON CONFLICT (agent_id) DO NOTHING',
  );
  const salt = database.prepare('SELECT salt FROM signing_salts WHERE agent_id = ?');

  const found = (id: string): DeliverySummary => {
    const row = byId.get(id) as StoredDeliverySummary | undefined;
    if (row === undefined) throw new Error(`delivery ${id} was never put into the outbox`);
    return deliverySummary(row);
  };
  const failing = (id: string, failure: DeliveryFailure, nextAt: number | null): DeliverySummary => {
    const row = found(id);
    const [state, endedAt] = nextAt === null ? ['dead', failure.at] : ['due', null];
    fail.run(state, nextAt ?? row.nextAt, failuresWith(row, failure), endedAt, id);
    return row;
  };
  const bury = (row: DeliverySummary, failure: DeliveryFailure): void => {
    giveUp.run(failuresWith(row, failure), failure.at, row.id);
  };

  return {
    addDelivery(delivery: NewDelivery): void {
      const { id, owner, requestId, messageId, url, body, priority, expiresAt, createdAt } = delivery;
      requireStorable(id, owner, requestId, messageId, url, body);
      const isDisabled = disabled.get(owner, url) !== undefined;
      const failures = isDisabled ? [{ at: createdAt, reason: DISABLED }] : [];
      insert.run(
        ...[id, owner, requestId, messageId, url, body, priority, expiresAt, createdAt],
        ...[isDisabled ? 'dead' : 'due', createdAt, JSON.stringify(failures), isDisabled ? createdAt : null],
        ...[crc32(body), headChecksumOf(delivery)],
      );
    },

    claimDeliveries(limit: number): DueDelivery[] {
      return (unclaimed.all(epoch, limit) as StoredDue[]).map(({ createdAt, headChecksum, ...row }) => {
        claim.run(row.id);
        return isAsWritten({ ...row, createdAt }, headChecksum) ? row : { ...row, isDamaged: true };
      });
    },

    delivered(ids: readonly string[], at: number): void {
      for (const id of ids) deliver.run(at, id);
    },

    deliveryFailed(id: string, failure: DeliveryFailure, nextAt: number | null): void {
      failing(id, failure, nextAt);
    },

    deliveryGivenUp(id: string, failure: DeliveryFailure): void {
      bury(found(id), failure);
    },

    receiverGone(id: string, failure: DeliveryFailure): string[] {
      const { owner, url } = failing(id, failure, null);
      disable.run(owner, url, failure.at);
      const rows = (others.all(owner, url, id) as StoredDeliverySummary[]).map(deliverySummary);
      for (const row of rows) bury(row, { at: failure.at, reason: DISABLED });
      return [id, ...rows.map((row) => row.id)];
    },

    enableUrl: (owner: string, url: string): boolean => enable.run(owner, url).changes > 0,

    reviveDelivery(id: string, at: number): boolean {
      const row = byId.get(id) as StoredDeliverySummary | undefined;
      if (row === undefined || revive.run(at, id).changes === 0) return false;
      enable.run(row.owner, row.url);
      return true;
    },

    saltOf(agentId: string, fresh: string): string {
      requireStorable(agentId, fresh);
      keepSalt.run(agentId, fresh);
      return (salt.get(agentId) as { salt: string }).salt;
    },
  };
}

export function outboxRemovals(database: Database) {
  const purge = database.prepare(`
    DELETE FROM deliveries WHERE number IN (SELECT number FROM deliveries WHERE ended_at < ? LIMIT ?)`);
  // There is no index by age, but the oldest rows were added first.
  const purgeDisabled = database.prepare(`
    DELETE FROM disabled_urls WHERE rowid IN (SELECT rowid FROM disabled_urls ORDER BY rowid LIMIT ?) AND at < ?`);
  const forget = database.prepare('DELETE FROM signing_salts WHERE agent_id = ?');

  return {
    /** Deletes some deliveries per call; 0 when none is left. */
    purgeDeliveries: (before: number): number => Number(purge.run(before, PURGE_WINDOW).changes),

    /** Deletes some disabled URLs per call; 0 when none is left. */
    purgeDisabledUrls: (before: number): number => Number(purgeDisabled.run(PURGE_WINDOW, before).changes),

    forgetSalt(agentId: string): void {
      forget.run(agentId);
    },
  };
}

export function failuresWith({ failures }: DeliverySummary, failure: DeliveryFailure): string {
  return JSON.stringify([...failures, failure].slice(-MAX_FAILURES));
}

export interface StoredDeliverySummary extends Omit<DeliverySummary, 'failures'> {
  readonly failures: string;
}

/** `number` is its place in the list. */
export interface NumberedDelivery extends StoredDeliverySummary {
  readonly number: number;
}

export interface StoredDelivery extends StoredDeliverySummary {
  readonly body: string;
  readonly checksum: number;
  readonly headChecksum: number | null;
}

export type StoredDue = DueDelivery & Pick<StoredDelivery, 'createdAt' | 'headChecksum'>;

export function deliverySummary<Row extends StoredDeliverySummary>({ failures, ...row }: Row) {
  return { ...row, failures: failuresIn(failures) ?? [{ at: row.createdAt, reason: DAMAGED_FAILURES }] };
}

/** `found` may have one row more than `limit`, which shows that another page follows. */
export function outboxPage(
  found: readonly NumberedDelivery[],
  { total, limit }: { readonly total: number; readonly limit: number },
): OutboxPage {
  const page = found.slice(0, limit);
  const last = found.length > limit ? page.at(-1) : undefined;
  const rows = page.map(({ number, ...row }) => deliverySummary(row));
  return { rows, total, ...(last !== undefined && { next: Number(last.number) }) };
}

/** `undefined` if the text is damaged. Failures are only informative, so the callback is still sent and listed. */
function failuresIn(text: string): DeliveryFailure[] | undefined {
  try {
    const failures = JSON.parse(text) as DeliveryFailure[];
    return Array.isArray(failures) ? failures : undefined;
  } catch {
    return undefined;
  }
}

export function checkedDelivery({ checksum, headChecksum, ...row }: StoredDelivery): DeliveryRow {
  checkedBody(row.id, { body: row.body, checksum });
  if (!isAsWritten(row, headChecksum)) throw damaged(row.id);
  return deliverySummary(row);
}

/**
 * Whether the constant columns are undamaged. With a flipped bit, the URL may belong to another receiver, and the owner
 * may be one with another signing secret.
 */
export function isAsWritten(head: Head, headChecksum: number | null): boolean {
  // Rows from before there was a checksum cannot be checked.
  return headChecksum === null || headChecksum === headChecksumOf(head);
}

type Head = Omit<NewDelivery, 'id' | 'body'>;

/** The id is left out, because it is the key. No text contains a NUL, so the separator is unambiguous. */
export function headChecksumOf({ owner, requestId, messageId, url, priority, expiresAt, createdAt }: Head): number {
  return crc32(`${owner}\0${requestId}\0${messageId}\0${url}\0${priority}\0${expiresAt}\0${createdAt}`);
}

/** A damaged body must not be sent: its signature would make a flipped bit look genuine. */
export function checkedBody(id: string, { body, checksum }: Pick<StoredDelivery, 'body' | 'checksum'>): string {
  if (checksum !== crc32(body)) throw damaged(id);
  return body;
}

function damaged(id: string): StoreError {
  return new StoreError('store_damaged', `Delivery ${id} is damaged in the database.`);
}

const SUMMARY_COLUMNS = `
  id, owner, request_id AS "requestId", message_id AS "messageId", url, priority, expires_at AS "expiresAt",
  created_at AS "createdAt", state, attempts, next_at AS "nextAt", failures, ended_at AS "endedAt"`;
export const SELECT_DELIVERY_SUMMARY = `SELECT ${SUMMARY_COLUMNS} FROM deliveries`;
export const SELECT_NUMBERED = `SELECT ${SUMMARY_COLUMNS}, number FROM deliveries`;
export const SELECT_DELIVERY = `SELECT ${SUMMARY_COLUMNS}, body, checksum, head_checksum AS "headChecksum" FROM deliveries`;

/** Shown instead of damaged failures. */
const DAMAGED_FAILURES = 'why it failed before is damaged in the database';

const PURGE_WINDOW = 200;
