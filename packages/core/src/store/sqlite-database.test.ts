import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { integrityOf } from './integrity.ts';
import { APPLICATION_ID, MIGRATIONS } from './migrations.ts';
import { ALL, frame, requestRow } from './requests.contract.ts';
import { prepareOperations } from './sql/operations.ts';
import { framesValues, requestValues } from './sql/values.ts';
import { errorData } from './sqlite-committer.ts';
import { openDatabase } from './sqlite-database.ts';
import { loadEngine, type SqliteEngine } from './sqlite-engine.ts';
import { openSqliteStore } from './sqlite-store.ts';

const root = mkdtempSync(join(tmpdir(), 'dragoman-database-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let engine: SqliteEngine;
let path: string;
let files = 0;

beforeAll(async () => {
  engine = await loadEngine();
});

beforeEach(() => {
  files += 1;
  path = join(root, `${files}.db`);
});

describe('a new database', () => {
  test('is ours, of the newest version, and as durable as SQLite can be', () => {
    const database = openDatabase(engine, path);
    const pragma = (name: string) => Object.values(Object(database.prepare(`PRAGMA ${name}`).get()))[0];
    expect(pragma('application_id')).toBe(APPLICATION_ID);
    expect(pragma('user_version')).toBe(MIGRATIONS.length);
    expect(pragma('journal_mode')).toBe('wal');
    expect(pragma('synchronous')).toBe(2);
    expect(pragma('foreign_keys')).toBe(1);
    database.close();
  });

  test('is opened again without a change', () => {
    openDatabase(engine, path).close();
    const before = readFileSync(path);
    openDatabase(engine, path).close();
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test('whose making was cut off before its end is made on the next try', () => {
    writeFileSync(path, '');
    const database = openDatabase(engine, path);
    expect(prepareOperations(database).reads.listKeys()).toEqual([]);
    database.close();
  });
});

describe('refused, and left as it is:', () => {
  test('a file that is no database', () => {
    writeFileSync(path, 'Dear diary, today I was taken for a database.\n'.repeat(50));
    expectRefusal('store_damaged', /is damaged \(.*not a database\)\. Put a backup in its place, or move it away/);
  });

  test('a database of another program', () => {
    const other = engine.open(path);
    other.exec('CREATE TABLE recipes (name TEXT); PRAGMA application_id = 77');
    other.close();
    expectRefusal('store_foreign', /is a database of another program\. Choose another data folder/);
  });

  test('a database of a program that says nothing of itself', () => {
    const other = engine.open(path);
    other.exec('CREATE TABLE recipes (name TEXT)');
    other.close();
    expectRefusal('store_foreign', /another program/);
  });

  test('one written by a newer version', () => {
    openDatabase(engine, path).close();
    const newer = engine.open(path);
    newer.exec(`PRAGMA user_version = ${MIGRATIONS.length + 1}; ${MOVE_LOG}`);
    newer.close();
    expectRefusal(
      'store_newer',
      new RegExp(`has version ${MIGRATIONS.length + 1} and this program knows versions up to ${MIGRATIONS.length}`),
    );
  });

  test.each([1, 2, 3, 4, 5, 6])('one whose page %i is overwritten', (page) => {
    fill(path);
    overwrite(path, page * 4096, Buffer.alloc(4096, 0xab));
    expectRefusal('store_damaged', /is damaged/);
  });

  test('one that was cut short', () => {
    fill(path);
    const whole = readFileSync(path);
    writeFileSync(path, whole.subarray(0, whole.length - 3 * 4096));
    expectRefusal('store_damaged', /is damaged/);
  });

  test('by the store too, with the same words', async () => {
    const folder = mkdtempSync(join(root, 'store-'));
    writeFileSync(join(folder, 'dragoman.db'), 'noise'.repeat(1000));
    await expect(openSqliteStore({ folder, onFatal() {} })).rejects.toMatchObject({
      name: 'StoreError',
      code: 'store_damaged',
      message: expect.stringContaining(join(folder, 'dragoman.db')),
    });
    // It released the folder: another attempt fails for the same reason, not because of the first.
    await expect(openSqliteStore({ folder, onFatal() {} })).rejects.toMatchObject({ code: 'store_damaged' });
  });
});

describe('a flipped bit inside a text, which SQLite does not notice,', () => {
  test.each([
    ['of an envelope', 'the envelope'],
    ['of frames', 'the frame'],
    ['of an answer that was recorded with its request', 'the answer'],
    ['of a callback that is to be sent', 'the callback'],
    ['of a message of a thread', 'the words'],
  ])('%s is never handed out', (_, needle) => {
    fill(path);
    // Everywhere: SQLite leaves old copies in unused parts of its pages.
    const changed = readFileSync(path, 'latin1').replaceAll(needle, needle.replace('t', 'T'));
    writeFileSync(path, changed, 'latin1');
    const database = openDatabase(engine, path);
    const { reads } = prepareOperations(database);
    const damaged = () => [
      reads.find(requestRow()),
      ...['r1', ANSWERED].map((requestId) => reads.frames(requestRow({ requestId }), ALL)),
      reads.dueBody('cb-1'),
      reads.threadPage({ owner: 'ann', threadId: 't' }, ALL),
    ];
    expect(damaged).toThrow(expect.objectContaining({ code: 'store_damaged' }));
    database.close();
  });
});

test('an index that does not match its table opens, and the integrity check finds it', () => {
  fill(path);
  const database = openDatabase(engine, path);
  prepareOperations(database).writes.putKey({ ...KEY, hash: 'needle' });
  database.exec(MOVE_LOG);
  expect(integrityOf(database)).toMatchObject({ isComplete: true, problems: [] });
  database.close();
  // The hash is in the table and in its index: one of both is changed.
  const file = readFileSync(path, 'latin1');
  expect(file.split('needle')).toHaveLength(3);
  writeFileSync(path, file.replace('needle', 'noodle'), 'latin1');
  const damaged = openDatabase(engine, path);
  expect(integrityOf(damaged).problems.join()).toContain('keys');
  damaged.close();
});

test('whichever bit flips, no damaged data is returned', () => {
  fill(path);
  const whole = readFileSync(path);
  let refused = 0;
  for (let bit = 17; bit < whole.length * 8; bit += 12_345) {
    const changed = Buffer.from(whole);
    changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    writeFileSync(`${path}-${bit}`, changed);
    try {
      expectNothingWrong(`${path}-${bit}`);
    } catch (error) {
      expect(errorData(error).code).toMatch(/^store_(damaged|foreign|newer)$/);
      refused += 1;
    }
  }
  expect(refused).toBeGreaterThan(0);
});

/** What is read is as it was written, or missing, or refused. */
function expectNothingWrong(file: string): void {
  const database = openDatabase(engine, file);
  try {
    const { reads } = prepareOperations(database);
    for (const row of rows()) {
      const found = reads.find(row);
      if (found !== undefined) expect(found).toMatchObject({ envelope: row.envelope });
      const [first, ...others] = reads.frames(row, ALL);
      if (first !== undefined) expect(first.text).toBe(textOf(row.requestId));
      expect(others).toEqual([]);
    }
  } finally {
    database.close();
  }
}

function fill(file: string): void {
  const database = openDatabase(engine, file);
  const { writes } = prepareOperations(database);
  database.exec('BEGIN');
  writes.acceptAnswered(
    framesValues([frame(0, { isFinal: true, text: 'the answer' })]),
    ...requestValues({ ...requestRow({ requestId: ANSWERED }), state: 'finished' }),
  );
  for (const row of rows()) {
    const id = writes.accept(...requestValues(row)) as number;
    writes.append(id, 1, framesValues([frame(0, { text: textOf(row.requestId) })]));
  }
  const names = { id: 'cb-1', owner: 'ann', requestId: 'r1', messageId: 'm1', url: 'https://one.example/in' };
  writes.addDelivery({ ...names, body: 'the callback', priority: 1, expiresAt: null, createdAt: 0 });
  const letter = { thread: { threadId: 't', text: 'the words', keep: 10 } };
  writes.accept(...requestValues(requestRow({ requestId: 'm2' }), { letter }));
  database.exec(`COMMIT; ${MOVE_LOG}`);
  database.close();
}

const KEY = {
  keyId: 'k1',
  hash: 'h',
  agentId: 'ann',
  role: 'agent',
  description: null,
  createdAt: 1,
  expiresAt: null,
  revokedAt: null,
} as const;

const ANSWERED = 'answered at once';

function rows() {
  const more = Array.from({ length: 100 }, (_, index) =>
    requestRow({ requestId: `more-${index}`, sessionId: `s${index}` }),
  );
  return [requestRow({ envelope: 'the envelope' }), ...more];
}

function textOf(requestId: string): string {
  return requestId === 'r1' ? 'the frame' : requestId.repeat(50);
}

function overwrite(file: string, position: number, bytes: Buffer): void {
  const descriptor = openSync(file, 'r+');
  writeSync(descriptor, bytes, 0, bytes.length, position);
  closeSync(descriptor);
}

function expectRefusal(code: string, message: RegExp): void {
  const before = readFileSync(path);
  const { mode } = statSync(path);
  expect(() => openDatabase(engine, path)).toThrow(
    expect.objectContaining({ name: 'StoreError', code, message: expect.stringMatching(message) }),
  );
  expect(readFileSync(path).equals(before)).toBe(true);
  expect(statSync(path).mode).toBe(mode);
}

/** So that everything is in the one file, which a test is about to change. */
const MOVE_LOG = 'PRAGMA wal_checkpoint(TRUNCATE)';
