import { crc32 } from 'node:zlib';
import { SLICE, sharedBytes } from '../../text/long-text.ts';
import type {
  EffectRow,
  ExecutionEnd,
  ExecutionKey,
  ExecutionPageQuery,
  ExecutionRow,
  ExecutionSummary,
} from '../executions.ts';
import type { Held } from '../held.ts';
import type { Database } from '../sqlite-engine.ts';
import { requireStorable } from '../storable.ts';
import { StoreError } from '../store-error.ts';
import { epochOf } from './commits.ts';
import { ownersIn } from './owners.ts';
import { withRepeats } from './repeated-text.ts';
import { notHeld } from './requests.ts';
import type { EndValues, ExecutionValues } from './values.ts';

/**
 * A row of `executions` is never rewritten. An execution is open as long as it has a row in `open_executions`, which is
 * deleted when its row in `execution_ends` is added.
 */
export const EXECUTION_TABLES = `
  CREATE TABLE executions (
    id INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,
    execution_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    idempotency_key TEXT,
    request TEXT NOT NULL,
    accepted_at BIGINT NOT NULL,
    checksum BIGINT NOT NULL,
    UNIQUE (owner, execution_id)
  );
  CREATE UNIQUE INDEX executions_by_idempotency_key ON executions (owner, idempotency_key)
    WHERE idempotency_key IS NOT NULL;

  CREATE TABLE open_executions (
    execution INTEGER PRIMARY KEY REFERENCES executions (id) ON DELETE CASCADE
  );

  CREATE TABLE execution_ends (
    execution INTEGER PRIMARY KEY REFERENCES executions (id) ON DELETE CASCADE,
    status TEXT NOT NULL,
    result TEXT NOT NULL,
    events TEXT NOT NULL,
    ended_at BIGINT NOT NULL,
    checksum BIGINT NOT NULL
  );

  CREATE TABLE execution_effects (
    execution INTEGER NOT NULL REFERENCES executions (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    note TEXT NOT NULL,
    bytes BLOB,
    checksum BIGINT NOT NULL,
    PRIMARY KEY (execution, position)
  );

  CREATE TABLE stored_data (
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT,
    file TEXT,
    bytes BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    checksum BIGINT NOT NULL,
    PRIMARY KEY (owner, name)
  )`;

export function executionReads(database: Database) {
  const byKey = database.prepare(`${SELECT_EXECUTION} WHERE x.owner = ? AND x.execution_id = ?`);
  const byName = database.prepare(`
    ${ownersIn('executions')} ${SELECT_EXECUTION} JOIN owners ON owners.name = x.owner WHERE x.execution_id = ?
    ORDER BY x.id DESC`);
  const effects = database.prepare(`${SELECT_EFFECT} WHERE x.owner = ? AND x.execution_id = ? ORDER BY f.position`);
  // The inner query needs only the unique index on (owner, execution_id), so that executions maintain no further index.
  const page = database.prepare(`
    ${SELECT_SUMMARY} WHERE x.id IN (SELECT id FROM executions WHERE owner = ? AND id < ? ORDER BY id DESC LIMIT ?)
    ORDER BY x.id DESC`);
  // Searches the few open executions: `|| ''` keeps SQLite from searching all executions of the owner.
  const pageRunning = database.prepare(`
    ${SELECT_SUMMARY} WHERE x.owner || '' = ? AND x.id IN (SELECT execution FROM open_executions WHERE execution < ?)
    ORDER BY x.id DESC LIMIT ?`);
  // A list by status looks at all executions of the owner, one window per call. Windows are in the order of that index,
  // which finds the next one at once; by age, each window would scan the whole index again.
  const window = database.prepare(`
    SELECT COUNT(*) AS "count", MAX(execution_id) AS "last" FROM (
      SELECT execution_id FROM executions WHERE owner = ? AND execution_id > ? ORDER BY execution_id LIMIT ?
    ) AS looked_at`);
  const pageIn = database.prepare(`
    ${SELECT_SUMMARY} WHERE x.owner = ? AND x.execution_id > ? AND x.execution_id <= ? AND x.id < ? AND e.status = ?
    ORDER BY x.id DESC LIMIT ?`);

  return {
    findExecution(key: ExecutionKey): ExecutionRow | undefined {
      const row = byKey.get(key.owner, key.executionId) as StoredExecution | undefined;
      return row === undefined ? undefined : checkedExecution(row);
    },

    executionsNamed(executionId: string): ExecutionRow[] {
      return (byName.all(executionId) as StoredExecution[]).map(checkedExecution);
    },

    effects(key: ExecutionKey): EffectRow[] {
      return (effects.all(key.owner, key.executionId) as StoredEffect[]).map((row) => checkedEffect(key, row));
    },

    /** The newest executions of one window. `next` is the id to continue from; null after the last window. */
    listExecutions(owner: string, { before, limit, status }: ExecutionPageQuery, from: string): ExecutionWindow {
      if (status === null) return { newest: page.all(owner, before, limit) as ExecutionSummary[], next: null };
      if (status === 'running') {
        return { newest: pageRunning.all(owner, before, limit) as ExecutionSummary[], next: null };
      }
      const { count, last } = window.get(owner, from, LIST_WINDOW) as { count: number; last: string | null };
      const newest = pageIn.all(owner, from, last, before, status, limit) as ExecutionSummary[];
      return { newest, next: count < LIST_WINDOW ? null : last };
    },
  };
}

export function executionWrites(database: Database) {
  const epoch = epochOf(database);
  const insert = database.prepare(`
    INSERT INTO executions (owner, execution_id, digest, idempotency_key, request, accepted_at, checksum)
    VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO NOTHING`);
  const byKey = database.prepare(`${SELECT_EXECUTION} WHERE x.owner = ? AND x.execution_id = ?`);
  const byIdempotencyKey = database.prepare(`${SELECT_EXECUTION} WHERE x.owner = ? AND x.idempotency_key = ?`);
  const openUp = database.prepare(`INSERT INTO open_executions (execution, epoch) VALUES (?, ${epoch})`);
  const unclaimed = database.prepare(SELECT_UNCLAIMED);
  const claim = database.prepare(`UPDATE open_executions SET epoch = ${epoch} WHERE execution = ?`);
  const end = database.prepare(`
    INSERT INTO execution_ends (execution, status, result, events, ended_at, checksum)
    VALUES (?, ?, CAST(? AS TEXT), ?, ?, ?)`);
  const close = database.prepare('DELETE FROM open_executions WHERE execution = ?');
  const record = effectRecorder(database);

  function endWith(id: number, [status, text, events, endedAt]: EndValues): void {
    const result = typeof text === 'string' ? text : Buffer.concat(text);
    requireStorable(result, events);
    end.run(id, status, result, events, endedAt, checksumOfEnd({ status, result, events, endedAt, repeats: null }));
  }

  return {
    /** Returns the number of the new execution, or the earlier one that has its id or its idempotency key. */
    acceptExecution(values: ExecutionValues, ...ended: EndValues | []): ExecutionRow | number {
      const [owner, executionId, digest, idempotencyKey, request] = values;
      requireStorable(owner, executionId, idempotencyKey, request);
      const { changes, lastInsertRowid } = insert.run(
        ...values,
        executionChecksumOf({ owner, executionId, digest, request }),
      );
      if (changes === 0) {
        const earlier = byKey.get(owner, executionId) ?? byIdempotencyKey.get(owner, idempotencyKey);
        return checkedExecution(earlier as StoredExecution);
      }
      const id = Number(lastInsertRowid);
      if (ended.length === 0) openUp.run(id);
      else endWith(id, ended);
      return id;
    },

    claimExecutions(limit: number): { id: number; row: ExecutionRow }[] {
      return (unclaimed.all(epoch, limit) as (StoredExecution & { id: number })[]).map((stored) => {
        claim.run(stored.id);
        return { id: stored.id, row: checkedExecution(stored) };
      });
    },

    appendEffects(held: Held, effects: readonly EffectRow[]): void {
      record(held, effects);
    },

    finishExecution(held: Held, effects: readonly EffectRow[], ...values: EndValues): void {
      record(held, effects);
      endWith(held.id, values);
      close.run(held.id);
    },
  };
}

/** Prepares adding effects to an open execution. Throws `not_held` unless this process holds it. */
export function effectRecorder(database: Database): (held: Held, effects: readonly EffectRow[]) => void {
  const isHeld = database.prepare('SELECT 1 FROM open_executions WHERE execution = ? AND epoch = ?');
  const insert = database.prepare(`
    INSERT INTO execution_effects (execution, position, name, kind, note, bytes, checksum) VALUES (?, ?, ?, ?, ?, ?, ?)`);

  return ({ id, epoch }, effects) => {
    if (isHeld.get(id, epoch) === undefined) throw notHeld('execution', id);
    for (const effect of effects) {
      requireStorable(effect.key, effect.note);
      const { position, kind, note, bytes } = effect;
      insert.run(id, position, effect.key, kind, note, bytes, checksumOfEffect(effect));
    }
  };
}

export function executionRemovals(database: Database) {
  const window = database.prepare(`
    SELECT x.id, x.accepted_at AS "acceptedAt" FROM executions x WHERE x.id > ? ORDER BY x.id LIMIT ?`);
  const purge = database.prepare(`
    DELETE FROM executions
    WHERE id > ? AND id <= ?
      AND id IN (SELECT e.execution FROM execution_ends e WHERE e.execution > ? AND e.execution <= ? AND e.ended_at < ?)`);

  return {
    /**
     * Purges one window, in the order in which executions were recorded. `next` is null when no execution of the window
     * is old, because later ones are newer.
     */
    purgeExecutions(before: number, from: number): { purged: number; next: number | null } {
      const rows = window.all(from, PURGE_WINDOW) as { id: number; acceptedAt: number }[];
      const last = rows.at(-1);
      if (last === undefined || !rows.some(({ acceptedAt }) => acceptedAt < before)) return { purged: 0, next: null };
      return { purged: Number(purge.run(from, last.id, from, last.id, before).changes), next: last.id };
    },
  };
}

/** One window of a list. */
export interface ExecutionWindow {
  readonly newest: readonly ExecutionSummary[];
  readonly next: string | null;
}

export interface StoredExecution extends Omit<ExecutionRow, 'end'> {
  readonly checksum: number;
  readonly status: string | null;
  readonly result: string;
  readonly events: string;
  readonly endedAt: number;
  readonly repeats: string | null;
  readonly endChecksum: number;
}

/** SQLite does not notice a flipped bit inside a text, so checksums detect it. */
export function checkedExecution(row: StoredExecution): ExecutionRow {
  const { owner, executionId, digest, idempotencyKey, request, acceptedAt, status } = row;
  const stored = status === null ? null : { ...row, status };
  if (row.checksum !== executionChecksumOf(row) || (stored !== null && row.endChecksum !== checksumOfEnd(stored))) {
    throw new StoreError('store_damaged', `Execution ${executionId} of ${owner} is damaged in the database.`);
  }
  const end = stored === null ? null : wholeEnd(stored);
  return { owner, executionId, digest, idempotencyKey, request, acceptedAt, end };
}

function wholeEnd({ status, result: text, events, endedAt, repeats }: StoredEnd): ExecutionEnd {
  const whole = repeats === null ? text : withRepeats(text, repeats);
  const result = whole.length > SLICE ? { parts: [sharedBytes(whole)] } : whole;
  return { status, result, events, endedAt };
}

interface StoredEnd extends Omit<ExecutionEnd, 'result'> {
  readonly result: string;
  /** Set in rows that an earlier version wrote; see `withRepeats`. */
  readonly repeats: string | null;
}

/** A long result arrives as bytes, and is stored as text. */
type NewStoredEnd = Omit<StoredEnd, 'result'> & { readonly result: string | Uint8Array };

export interface StoredEffect extends EffectRow {
  readonly checksum: number;
}

export function checkedEffect({ owner, executionId }: ExecutionKey, { checksum, ...effect }: StoredEffect): EffectRow {
  // Some versions of Node computed the checksum 0 for every effect with empty `bytes`.
  const isOldEmpty = checksum === 0 && effect.bytes?.length === 0;
  if (checksum !== checksumOfEffect(effect) && !isOldEmpty) {
    const message = `Effect ${effect.position} of execution ${executionId} of ${owner} is damaged in the database.`;
    throw new StoreError('store_damaged', message);
  }
  return effect;
}

export function executionChecksumOf(row: Pick<ExecutionRow, 'owner' | 'executionId' | 'digest' | 'request'>): number {
  return [row.owner, row.executionId, row.digest, row.request].reduce((sum, text) => crc32(text, sum), 0);
}

export function checksumOfEnd({ status, result, events, endedAt, repeats }: NewStoredEnd): number {
  const texts = crc32(events, crc32(result, crc32(`${status},${endedAt}`)));
  return repeats === null ? texts : crc32(repeats, texts);
}

export function checksumOfEffect({ position, key, kind, note, bytes }: EffectRow): number {
  const text = crc32(note, crc32(`${position},${kind},${key}`));
  return bytes === null || bytes.length === 0 ? text : crc32(bytes, text);
}

export const SELECT_EXECUTION = `
  SELECT x.owner, x.execution_id AS "executionId", x.digest, x.idempotency_key AS "idempotencyKey", x.request,
    x.accepted_at AS "acceptedAt", x.checksum, e.status, e.result, e.events, e.ended_at AS "endedAt", e.repeats,
    e.checksum AS "endChecksum"
  FROM executions x
    LEFT JOIN execution_ends e ON e.execution = x.id
    LEFT JOIN open_executions o ON o.execution = x.id`;

const SELECT_UNCLAIMED = `${SELECT_EXECUTION.replace('SELECT', 'SELECT x.id,')} WHERE o.epoch < ? ORDER BY x.id LIMIT ?`;

export const SELECT_EFFECT = `
  SELECT f.position, f.name AS "key", f.kind, f.note, f.bytes, f.checksum
  FROM executions x JOIN execution_effects f ON f.execution = x.id`;

export const SELECT_SUMMARY = `
  SELECT x.id AS "number", x.owner, x.execution_id AS "executionId", COALESCE(e.status, 'running') AS status,
    x.accepted_at AS "acceptedAt", e.ended_at AS "endedAt"
  FROM executions x LEFT JOIN execution_ends e ON e.execution = x.id`;

const PURGE_WINDOW = 200;
/** Takes about 10 ms. */
const LIST_WINDOW = 2_000;
