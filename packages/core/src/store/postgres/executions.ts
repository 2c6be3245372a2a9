import type { Log } from '../../ports/ports.ts';
import type {
  EffectRow,
  ExecutionAccepted,
  ExecutionEnd,
  ExecutionRow,
  ExecutionStore,
  ExecutionSummary,
  StoredDataStore,
  StoredInfo,
} from '../executions.ts';
import type { Held } from '../held.ts';
import {
  checkedEffect,
  checkedExecution,
  checksumOfEffect,
  checksumOfEnd,
  executionChecksumOf,
  SELECT_EFFECT,
  SELECT_EXECUTION,
  SELECT_SUMMARY,
  type StoredEffect,
  type StoredExecution,
} from '../sql/executions.ts';
import { ownersIn } from '../sql/owners.ts';
import { notHeld } from '../sql/requests.ts';
import { type CheckedStored, checkedStored, SELECT_STORED, storedChecksumOf } from '../sql/stored-data.ts';
import { requireStorable } from '../storable.ts';
import { bigints, byteStrings, integers, texts } from './arrays.ts';
import { readableExecutions } from './damages.ts';
import type { PostgresDatabase, Queries } from './database.ts';
import { isSqlError } from './errors.ts';
import { GONE_NODES } from './gone.ts';
import { Group } from './group.ts';
import { lockOwner } from './owner-lock.ts';
import { deleteExecutions } from './removals.ts';

export function executionStore(database: PostgresDatabase, log?: Log): ExecutionStore {
  const { read } = database;
  const accepting = new Group<ExecutionRow, number | null>({
    keyOf: ({ owner, executionId }) => `${owner}\n${executionId}`,
    write: (items) => database.write((queries) => insertExecutions(queries, database.node, items)),
  });
  const recording = new Group<Recorded, void>({
    keyOf: ({ held }) => String(held.id),
    write: (items) => database.write((queries) => recordEffects(queries, database.node, items)),
  });

  const find = async (text: string, ...values: unknown[]): Promise<ExecutionRow | undefined> => {
    const row = await read.get<StoredExecution>(text, ...values);
    return row === undefined ? undefined : checkedExecution(row);
  };

  return {
    accept: async (row): Promise<ExecutionAccepted> => {
      requireStorable(row.owner, row.executionId, row.idempotencyKey, row.request);
      if (row.end !== null) requireStorableEnd(row.end);
      for (;;) {
        const id = await accepting.add(row);
        if (id !== null) return { repeat: false, held: row.end === null ? { id, epoch: FIRST_EPOCH } : null };
        const earlier =
          (await find(BY_KEY, row.owner, row.executionId)) ??
          (row.idempotencyKey === null ? undefined : await find(BY_IDEMPOTENCY_KEY, row.owner, row.idempotencyKey));
        // The earlier execution may have been deleted in between.
        if (earlier !== undefined) return { repeat: true, row: earlier };
      }
    },

    append: async (held, effects) => {
      requireStorableEffects(effects);
      await recording.add({ held, effects, end: null });
    },

    finish: async (held, effects, end) => {
      requireStorableEffects(effects);
      requireStorableEnd(end);
      await recording.add({ held, effects, end });
    },

    find: ({ owner, executionId }) => find(BY_KEY, owner, executionId),

    named: async (executionId) => (await read.all<StoredExecution>(BY_NAME, executionId)).map(checkedExecution),

    effects: async (key) =>
      (await read.all<StoredEffect>(EFFECTS, key.owner, key.executionId)).map((row) => checkedEffect(key, row)),

    claim: (limit) =>
      database.write(async (queries) => {
        const rows = await queries.all<StoredExecution & { id: number; epoch: number }>(CLAIM, database.node, limit);
        return (await readableExecutions(queries, rows, log)).map(({ id, epoch, ...row }) => ({
          row: checkedExecution(row),
          held: { id, epoch },
        }));
      }),

    list: (owner, { before, limit, status }) => read.all<ExecutionSummary>(LIST, owner, before, status, limit),

    purge: async (before) => {
      let purged = 0;
      for (let from = 0; ; ) {
        const window = await read.all<{ id: number; acceptedAt: number }>(WINDOW, from, PURGE_WINDOW);
        const last = window.at(-1);
        if (last === undefined || !window.some(({ acceptedAt }) => acceptedAt < before)) return purged;
        const start = from;
        purged += await database.write(async (queries) => {
          await lockOwner(queries, 'purge', 'executions');
          const old = await queries.all<{ id: number }>(OLD, start, last.id, before);
          return deleteExecutions(
            queries,
            old.map(({ id }) => id),
          );
        });
        from = last.id;
      }
    },
  };
}

export function storedDataStore(database: PostgresDatabase): StoredDataStore {
  const { read } = database;
  return {
    keep: async (row, quota, by) => {
      requireStorable(row.owner, row.name, row.value, row.file, row.labels);
      requireStorableEffects(by.effects);
      return database.write(async (queries) => {
        await lockOwner(queries, 'stored_data', row.owner);
        const others = (await queries.get<{ count: number; bytes: number }>(OTHERS, row.owner, row.name)) ?? NONE;
        const [bytes, count] = [others.bytes + row.bytes, others.count + 1];
        if (bytes > quota.bytes || count > quota.count) return { kept: false as const, bytes, count };
        const [refused] = await recordEffects(queries, database.node, [{ ...by, end: null }]);
        if (refused !== undefined) throw refused;
        const replaced = await queries.get<CheckedStored>(BY_NAME_STORED, row.owner, row.name);
        const { owner, name, value, file, labels, updatedAt } = row;
        await queries.run(PUT, owner, name, value, file, row.bytes, labels, updatedAt, storedChecksumOf(row));
        return { kept: true as const, replaced: replaced === undefined ? null : checkedStored(replaced) };
      });
    },

    find: async (owner, name) => {
      const row = await read.get<CheckedStored>(BY_NAME_STORED, owner, name);
      return row === undefined ? undefined : checkedStored(row);
    },

    names: async (owner) =>
      (await read.all<{ name: string }>('SELECT name FROM stored_data WHERE owner = $1 ORDER BY name', owner)).map(
        ({ name }) => name,
      ),

    list: (owner) =>
      read.all<StoredInfo>(
        'SELECT name, bytes, updated_at AS "updatedAt" FROM stored_data WHERE owner = $1 ORDER BY name',
        owner,
      ),

    remove: (owner, name) =>
      database.write(async (queries) => {
        const row = await queries.get<CheckedStored>(`${BY_NAME_STORED} FOR UPDATE`, owner, name);
        if (row === undefined) return null;
        await queries.run('DELETE FROM stored_data WHERE owner = $1 AND name = $2', owner, name);
        const { checksum: _, ...stored } = row;
        return stored;
      }),

    files: async () =>
      (await read.all<{ file: string }>('SELECT file FROM stored_data WHERE file IS NOT NULL ORDER BY file')).map(
        ({ file }) => file,
      ),
  };
}

interface Recorded {
  readonly held: Held;
  readonly effects: readonly EffectRow[];
  readonly end: ExecutionEnd | null;
}

/** Returns the number of each execution, or null for one that exists already. */
async function insertExecutions(
  queries: Queries,
  node: number,
  items: readonly ExecutionRow[],
): Promise<(number | null)[]> {
  const of = <Value>(value: (item: ExecutionRow) => Value) => items.map(value);
  const added = await queries.all<{ id: number; place: number }>(
    INSERT,
    node,
    texts(of(({ owner }) => owner)),
    texts(of(({ executionId }) => executionId)),
    texts(of(({ digest }) => digest)),
    texts(of(({ idempotencyKey }) => idempotencyKey)),
    texts(of(({ request }) => request)),
    bigints(of(({ acceptedAt }) => acceptedAt)),
    bigints(of(executionChecksumOf)),
    ...endArrays(of(({ end }) => end)),
  );
  const ids: (number | null)[] = items.map(() => null);
  for (const { id, place } of added) ids[place - 1] = id;
  return ids;
}

/** Records the effects of the executions that this node holds. Returns an error for each of the others. */
async function recordEffects(
  queries: Queries,
  node: number,
  items: readonly Recorded[],
): Promise<(Error | undefined)[]> {
  const effects = items.flatMap(({ held: { id }, effects }) => effects.map((effect) => ({ id, effect })));
  try {
    const taken = await queries.all<{ execution: number }>(
      RECORD,
      node,
      bigints(items.map(({ held }) => held.id)),
      bigints(items.map(({ held }) => held.epoch)),
      ...endArrays(items.map(({ end }) => end)),
      bigints(effects.map(({ id }) => id)),
      integers(effects.map(({ effect }) => effect.position)),
      texts(effects.map(({ effect }) => effect.key)),
      texts(effects.map(({ effect }) => effect.kind)),
      texts(effects.map(({ effect }) => effect.note)),
      byteStrings(effects.map(({ effect }) => effect.bytes)),
      bigints(effects.map(({ effect }) => checksumOfEffect(effect))),
    );
    const held = new Set(taken.map(({ execution }) => execution));
    return items.map(({ held: { id } }) => (held.has(id) ? undefined : notHeld('execution', id)));
  } catch (error) {
    if (isSqlError(error) && error.code === '23505') throw new Error(`an effect is there already: ${error.message}`);
    throw error;
  }
}

function endArrays(ends: readonly (ExecutionEnd | null)[]): Buffer[] {
  const stored = ends.map((end) => (end === null ? null : { ...end, result: resultOf(end), repeats: null }));
  return [
    texts(stored.map((end) => end?.status ?? null)),
    byteStrings(stored.map((end) => end?.result ?? null)),
    texts(stored.map((end) => end?.events ?? null)),
    bigints(stored.map((end) => end?.endedAt ?? null)),
    bigints(stored.map((end) => (end === null ? null : checksumOfEnd(end)))),
  ];
}

/** A long result has parts, which together are the bytes of its text. */
function resultOf({ result }: ExecutionEnd): Buffer {
  return typeof result === 'string' ? Buffer.from(result) : Buffer.concat(result.parts);
}

function requireStorableEnd({ result, events }: ExecutionEnd): void {
  requireStorable(typeof result === 'string' ? result : null, events);
}

function requireStorableEffects(effects: readonly EffectRow[]): void {
  for (const { key, note } of effects) requireStorable(key, note);
}

const BY_KEY = `${SELECT_EXECUTION} WHERE x.owner = $1 AND x.execution_id = $2`;
const BY_IDEMPOTENCY_KEY = `${SELECT_EXECUTION} WHERE x.owner = $1 AND x.idempotency_key = $2`;
const BY_NAME = `
  ${ownersIn('executions')} ${SELECT_EXECUTION} JOIN owners ON owners.name = x.owner WHERE x.execution_id = $1 ORDER BY x.id DESC`;
const EFFECTS = `${SELECT_EFFECT} WHERE x.owner = $1 AND x.execution_id = $2 ORDER BY f.position`;
const LIST = `
  ${SELECT_SUMMARY} WHERE x.owner = $1 AND x.id < $2 AND ($3::text IS NULL OR COALESCE(e.status, 'running') = $3)
  ORDER BY x.id DESC LIMIT $4`;

const INSERT = `
  WITH input AS (
    SELECT * FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[],
      $9::text[], $10::bytea[], $11::text[], $12::bigint[], $13::bigint[])
      WITH ORDINALITY AS i (owner, execution_id, digest, idempotency_key, request, accepted_at, checksum,
        status, result, events, ended_at, end_checksum, place)
  ), added AS (
    INSERT INTO executions (owner, execution_id, digest, idempotency_key, request, accepted_at, checksum)
    SELECT owner, execution_id, digest, idempotency_key, request, accepted_at, checksum
    FROM input ORDER BY owner COLLATE "C", execution_id COLLATE "C"
    ON CONFLICT DO NOTHING RETURNING id, owner, execution_id
  ), recorded AS (
    SELECT a.id, i.* FROM added a JOIN input i ON i.owner = a.owner AND i.execution_id = a.execution_id
  ), opened AS (
    INSERT INTO open_executions (execution, holder, epoch) SELECT id, $1::bigint, 1 FROM recorded WHERE status IS NULL
  ), ended AS (
    INSERT INTO execution_ends (execution, status, result, events, ended_at, checksum)
    SELECT id, status, convert_from(result, 'UTF8'), events, ended_at, end_checksum FROM recorded WHERE status IS NOT NULL
  )
  SELECT id, place FROM recorded`;

const RECORD = `
  WITH input AS (
    SELECT * FROM unnest($2::bigint[], $3::bigint[], $4::text[], $5::bytea[], $6::text[], $7::bigint[], $8::bigint[])
      AS i (execution, epoch, status, result, events, ended_at, checksum)
  ), kept AS (
    SELECT o.execution FROM open_executions o JOIN input i ON i.execution = o.execution
    WHERE i.status IS NULL AND o.holder = $1 AND o.epoch = i.epoch FOR NO KEY UPDATE OF o
  ), closed AS (
    DELETE FROM open_executions o USING input i
    WHERE i.status IS NOT NULL AND o.execution = i.execution AND o.holder = $1 AND o.epoch = i.epoch RETURNING o.execution
  ), taken AS (
    SELECT execution FROM kept UNION ALL SELECT execution FROM closed
  ), ended AS (
    INSERT INTO execution_ends (execution, status, result, events, ended_at, checksum)
    SELECT i.execution, i.status, convert_from(i.result, 'UTF8'), i.events, i.ended_at, i.checksum
    FROM input i JOIN closed c ON c.execution = i.execution
  ), written AS (
    INSERT INTO execution_effects (execution, position, name, kind, note, bytes, checksum)
    SELECT f.* FROM unnest($9::bigint[], $10::integer[], $11::text[], $12::text[], $13::text[], $14::bytea[], $15::bigint[])
      AS f (execution, position, name, kind, note, bytes, checksum)
    WHERE f.execution IN (SELECT execution FROM taken)
  )
  SELECT execution FROM taken`;

const CLAIM = `
  WITH left_open AS (
    SELECT execution FROM open_executions WHERE holder IN (${GONE_NODES}) ORDER BY execution LIMIT $2 FOR UPDATE SKIP LOCKED
  ), claimed AS (
    UPDATE open_executions o SET holder = $1, epoch = o.epoch + 1 FROM left_open l WHERE o.execution = l.execution
    RETURNING o.execution, o.epoch
  )
  ${SELECT_EXECUTION.replace('SELECT', 'SELECT x.id, c.epoch,')} JOIN claimed c ON c.execution = x.id ORDER BY x.id`;

const WINDOW = 'SELECT id, accepted_at AS "acceptedAt" FROM executions WHERE id > $1 ORDER BY id LIMIT $2';
const OLD = 'SELECT execution AS id FROM execution_ends WHERE execution > $1 AND execution <= $2 AND ended_at < $3';
const OTHERS = `
  SELECT count(*) AS count, COALESCE(sum(bytes), 0)::bigint AS bytes FROM stored_data WHERE owner = $1 AND name <> $2`;
const BY_NAME_STORED = `${SELECT_STORED} WHERE owner = $1 AND name = $2`;
const PUT = `
  INSERT INTO stored_data (owner, name, value, file, bytes, labels, updated_at, checksum) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
  ON CONFLICT (owner, name) DO UPDATE SET value = excluded.value, file = excluded.file, bytes = excluded.bytes,
    labels = excluded.labels, updated_at = excluded.updated_at, checksum = excluded.checksum`;
const PURGE_WINDOW = 200;
const FIRST_EPOCH = 1;
const NONE = { count: 0, bytes: 0 };
