import type { Damage } from '../damage.ts';
import { type Integrity, integrityOf } from '../integrity.ts';
import { type Database, faultOf } from '../sqlite-engine.ts';
import { StoreError } from '../store-error.ts';
import { damagedAgents } from './agents.ts';
import { damagedApis } from './apis.ts';
import {
  checkedEffect,
  checkedExecution,
  SELECT_EFFECT,
  SELECT_EXECUTION,
  type StoredEffect,
  type StoredExecution,
} from './executions.ts';
import { type FramesRow, unpackFrames } from './frames.ts';
import { damagedKeys } from './keys.ts';
import { damagedRegistrations } from './registrations.ts';
import { checkedRequest, gapIn, SELECT_REQUEST, type StoredRequest } from './requests.ts';
import { damagedWorkflows } from './workflows.ts';

/** Requests and executions that were ended because they could not be read. */
export const DAMAGE_TABLES = `
  CREATE TABLE damages (
    kind TEXT NOT NULL,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (kind, owner, name)
  )`;

/**
 * Ends open requests and executions that cannot be read, so that they do not keep a server from starting. They get a
 * checksum that no text has, so that every later read of them fails with `store_damaged`.
 */
export function endDamaged(database: Database): Damage[] {
  const requests = database.prepare(`${SELECT_REQUEST} WHERE o.request IS NOT NULL`).all() as StoredRequest[];
  const framesOf = database.prepare(
    'SELECT first, count, ends, lengths, text, checksum FROM frames WHERE request = ? ORDER BY first',
  );
  const executions = database.prepare(`${SELECT_EXECUTION} WHERE o.execution IS NOT NULL`).all() as StoredExecution[];
  const effectsOf = database.prepare(`${SELECT_EFFECT} WHERE x.owner = ? AND x.execution_id = ? ORDER BY f.position`);
  const badRequests = requests.filter((row) =>
    isDamaged(() => requireReadableRequest(row, framesOf.all(row.id) as FramesRow[])),
  );
  const badExecutions = executions.filter((row) =>
    isDamaged(() => requireReadableExecution(row, effectsOf.all(row.owner, row.executionId) as StoredEffect[])),
  );
  if (badRequests.length + badExecutions.length === 0) return [];

  const note = database.prepare('INSERT OR REPLACE INTO damages (kind, owner, name) VALUES (?, ?, ?)');
  const markRequest = database.prepare(`UPDATE requests SET checksum = ${NEVER} WHERE id = ?`);
  const closeRequest = database.prepare('DELETE FROM open_requests WHERE request = ?');
  const dropLetter = database.prepare('DELETE FROM letters WHERE owner = ? AND request_id = ?');
  const markExecution = database.prepare(
    `UPDATE executions SET checksum = ${NEVER} WHERE owner = ? AND execution_id = ?`,
  );
  const endExecution = database.prepare(`
    INSERT INTO execution_ends (execution, status, result, events, ended_at, checksum)
    SELECT id, 'error', '', '[]', unixepoch() * 1000, ${NEVER} FROM executions WHERE owner = ? AND execution_id = ?`);
  const closeExecution = database.prepare(
    'DELETE FROM open_executions WHERE execution = (SELECT id FROM executions WHERE owner = ? AND execution_id = ?)',
  );
  database.exec('BEGIN IMMEDIATE');
  for (const { id, owner, requestId } of badRequests) {
    note.run('request', owner, requestId);
    markRequest.run(id);
    closeRequest.run(id);
    dropLetter.run(owner, requestId);
  }
  for (const { owner, executionId } of badExecutions) {
    note.run('execution', owner, executionId);
    markExecution.run(owner, executionId);
    endExecution.run(owner, executionId);
    closeExecution.run(owner, executionId);
  }
  database.exec('COMMIT');
  return [
    ...badRequests.map(({ owner, requestId }) => ({ kind: 'request', owner, name: requestId }) as const),
    ...badExecutions.map(({ owner, executionId }) => ({ kind: 'execution', owner, name: executionId }) as const),
  ];
}

export function damageReads(database: Database) {
  // Rows that have been deleted since are left out.
  const ended = database.prepare(`
    SELECT kind, owner, name FROM damages d
    WHERE CASE kind
      WHEN 'request' THEN EXISTS (SELECT 1 FROM requests r WHERE r.owner = d.owner AND r.request_id = d.name)
      ELSE EXISTS (SELECT 1 FROM executions x WHERE x.owner = d.owner AND x.execution_id = d.name)
    END
    ORDER BY kind, owner, name`);
  const items = [damagedKeys, damagedAgents, damagedApis, damagedRegistrations, damagedWorkflows].map((find) =>
    find(database),
  );

  return {
    integrity: (): Integrity => integrityOf(database),

    listDamages: (): Damage[] => [...(ended.all() as Damage[]), ...items.flatMap((find) => find())],
  };
}

/** Throws when the request or one of its frames is damaged or missing. */
export function requireReadableRequest(row: StoredRequest, rows: readonly FramesRow[]): void {
  checkedRequest(row);
  let next = 0;
  for (const frames of rows) {
    if (frames.first !== next) throw gapIn(row);
    unpackFrames(frames);
    next += frames.count;
  }
}

/** Throws when the execution or one of its effects is damaged. */
export function requireReadableExecution(row: StoredExecution, effects: readonly StoredEffect[]): void {
  checkedExecution(row);
  for (const effect of effects) checkedEffect(row, effect);
}

function isDamaged(read: () => void): boolean {
  try {
    read();
    return false;
  } catch (error) {
    if ((error instanceof StoreError && error.code === 'store_damaged') || faultOf(error) === 'damaged') return true;
    throw error;
  }
}

/** A checksum is never negative. */
export const NEVER = -1;
