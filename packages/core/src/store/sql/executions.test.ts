import { crc32 } from 'node:zlib';
import { beforeEach, expect, test } from 'vitest';
import { APPLICATION_ID, MIGRATIONS, migrate } from '../migrations.ts';
import { type Database, loadEngine } from '../sqlite-engine.ts';
import { prepareOperations } from './operations.ts';
import { endValues, executionValues } from './values.ts';

const KEY = { owner: 'ann', executionId: 'e-1' };
const EXECUTION = { digest: 'd', idempotencyKey: null, request: '{}', acceptedAt: 1, end: null };
const ROWS = 'what is fetched, filtered and sorted '.repeat(100);

let database: Database;

beforeEach(async () => {
  database = (await loadEngine()).open(':memory:');
});

test('a result of which an earlier version left out a part is read whole', () => {
  migrate(database, 'path');
  record();
  expect(prepareOperations(database).reads.findExecution(KEY)?.end?.result).toBe(`${ROWS}|${ROWS}`);
});

test.each(['result', 'repeats'])('a damaged %s is never returned', (column) => {
  migrate(database, 'path');
  record();
  database.exec(`UPDATE execution_ends SET ${column} = '1' || substr(${column}, 2)`);
  const { reads } = prepareOperations(database);
  expect(() => reads.findExecution(KEY)).toThrow(expect.objectContaining({ code: 'store_damaged' }));
});

test('what was recorded before there were repeats is read as it was', () => {
  const version = MIGRATIONS.findIndex((step) => step.includes('ADD COLUMN repeats'));
  database.exec(MIGRATIONS.slice(0, version).join(';'));
  database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${version}`);
  database
    .prepare(`
      INSERT INTO executions (id, owner, execution_id, digest, request, accepted_at, checksum)
      VALUES (1, 'ann', 'e-1', 'd', '{}', 1, ?)`)
    .run(['ann', 'e-1', 'd', '{}'].reduce((sum, text) => crc32(text, sum), 0));
  database
    .prepare(
      'INSERT INTO execution_ends (execution, status, result, events, ended_at, checksum) VALUES (1, ?, ?, ?, 2, ?)',
    )
    .run('success', ROWS, '[]', crc32('[]', crc32(ROWS, crc32('success,2'))));
  migrate(database, 'path');
  const end = { status: 'success', result: ROWS, events: '[]', endedAt: 2 };
  expect(prepareOperations(database).reads.findExecution(KEY)).toMatchObject({ ...KEY, acceptedAt: 1, end });
});

test.each([
  ['as on Node 20', 0],
  ['as on Node 24', crc32('n', crc32('1,call,k'))],
])('an effect without bytes is read with the checksum that it was written with, %s', (_, checksum) => {
  migrate(database, 'path');
  const { reads, writes } = prepareOperations(database);
  const id = writes.acceptExecution(executionValues({ ...KEY, ...EXECUTION })) as number;
  const effect = { position: 1, key: 'k', kind: 'call', note: 'n', bytes: new Uint8Array(0) } as const;
  writes.appendEffects({ id, epoch: 1 }, [effect]);
  database.prepare('UPDATE execution_effects SET checksum = ?').run(checksum);
  expect(reads.effects(KEY)).toMatchObject([{ key: 'k', note: 'n' }]);
  database.exec("UPDATE execution_effects SET checksum = 1, note = 'm'");
  expect(() => reads.effects(KEY)).toThrow(expect.objectContaining({ code: 'store_damaged' }));
});

/** A row as version 0.1 wrote it. */
function record(): void {
  const row = { ...KEY, digest: 'd', idempotencyKey: null, request: '{}', acceptedAt: 1, end: null };
  const [result, repeats] = [`${ROWS}|`, 'ec3ec3dc3'];
  const end = { status: 'success', result, events: '[]', endedAt: 2 };
  prepareOperations(database).writes.acceptExecution(executionValues(row), ...endValues(end));
  const checksum = crc32(repeats, crc32('[]', crc32(result, crc32('success,2'))));
  database.prepare('UPDATE execution_ends SET repeats = ?, checksum = ?').run(repeats, checksum);
}
