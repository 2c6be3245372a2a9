import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { builtProgram } from '../../test-support/built-program.ts';
import { type PostgresServer, startQuickPostgres } from '../../test-support/postgres-server.ts';
import { FileStorage } from '../executions/file-storage.ts';
import { connectPostgresStore } from '../store/postgres/postgres-store.ts';
import { storedChecksumOf } from '../store/sql/stored-data.ts';
import { openDatabase } from '../store/sqlite-database.ts';
import { type Database, loadEngine, type Value } from '../store/sqlite-engine.ts';
import { openSqliteStore } from '../store/sqlite-store.ts';
import type { CopyTarget } from './copy-end.ts';
import { copyRows } from './copy-rows.ts';
import { copyStore } from './copy-store.ts';
import { openPostgresTarget } from './postgres-copy.ts';
import { openSqliteSource } from './sqlite-copy.ts';

const TEXTS = ['', 'a', 'Z', 'é', '😀 \u2028', 'a\tb\n"\\', '{"x":[1,null]}', 'x'.repeat(70_000)];
const ROWS = 520;
const engine = await loadEngine();
const copier = builtProgram(new URL('./copier.mjs', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'dragoman-copy-'));
const template = join(root, 'template');
mkdirSync(template);
fill(template);
const content = contentOf(template);
let server: PostgresServer;
let made = 0;
/** A full data folder, an empty one, and an empty schema. */
let [full, empty, url] = ['', '', ''];

beforeAll(async () => {
  server = await startQuickPostgres();
});

afterAll(async () => {
  await server?.stop();
  rmSync(root, { recursive: true, force: true });
});

beforeEach(() => {
  made += 1;
  [full, empty] = [join(root, `full-${made}`), join(root, `empty-${made}`)];
  url = server.url(`copy_${made}`);
  // The driver of Node 20 may keep a closed database open until its statements are collected: each test has files of its own.
  cpSync(template, full, { recursive: true });
});

/** Some rows in every table, with every value that one store could take for another. */
function fill(folder: string): void {
  const database = openDatabase(engine, join(folder, 'dragoman.db'));
  database.exec('PRAGMA foreign_keys = OFF; BEGIN');
  for (const name of tablesOf(database)) {
    if (['commits', 'damages', 'vault_seal'].includes(name)) continue;
    const columns = database.prepare(`PRAGMA table_info(${name})`).all() as Column[];
    const insert = database.prepare(
      `INSERT INTO ${name} (${columns.map((column) => column.name)}) VALUES (${columns.map(() => '?')})`,
    );
    for (let row = 1; row <= ROWS; row += 1) {
      insert.run(...columns.map((column, index) => cellOf(column, { name, row, index })));
    }
  }
  // A server never has the end of a thread that has messages.
  database.exec("UPDATE thread_ends SET owner = 'gone'; COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
}

interface Column {
  readonly name: string;
  readonly type: string;
  readonly notnull: number;
  readonly pk: number;
}

function cellOf(column: Column, { name, row, index }: { name: string; row: number; index: number }): Value {
  if (column.notnull === 0 && column.pk === 0 && (row + index) % 3 === 0) return null;
  if (name === 'stored_data' && column.name === 'file') return null;
  if (column.type === 'BLOB') return new Uint8Array([0, row % 256, 255]);
  if (name === 'counters' && column.name === 'slice') return row + 0.25;
  if (name === 'thread_messages' && column.name === 'sequence') return 2 ** 40 + row;
  if (column.type === 'INTEGER') return column.name === 'priority' ? -row : row;
  if (column.type === 'BIGINT') return 1_700_000_000_000 + row;
  return `${TEXTS[(row + index) % (row < 20 ? 8 : 7)]} ${row}`;
}

function tablesOf(database: Database): string[] {
  const rows = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").all();
  return (rows as { name: string }[]).map(({ name }) => name);
}

/** Everything, but for what belongs to one opening of the store. */
function contentOf(folder: string): Record<string, unknown[]> {
  const database = openDatabase(engine, join(folder, 'dragoman.db'));
  const tables = tablesOf(database).filter((name) => !['commits', 'damages'].includes(name));
  const content = tables.map((name) => {
    const rows = database.prepare(`SELECT * FROM ${name} ORDER BY 1, 2`).all();
    return [name, rows.map((row) => ({ ...(row as object), epoch: 0 }))];
  });
  database.close();
  return Object.fromEntries(content);
}

const ignored = () => {};

test('every row of every table comes through PostgreSQL and back unchanged', async () => {
  const there = await copyStore({ from: `sqlite:${full}`, to: url });
  expect(there.find(({ family }) => family === 'requests')?.rows).toBe(6 * ROWS);
  const back = await copyStore({ from: url, to: `sqlite:${empty}` });
  expect(contentOf(empty)).toEqual(content);
  expect(back.map(({ family }) => family)).toEqual(there.map(({ family }) => family));
});

/** Copies in its own process, which is killed at that step. `true`: it was done before. */
function copied(from: string, to: string, step = 0): boolean {
  const { status, signal, stderr } = spawnSync(process.execPath, [copier, from, to, String(step)], {
    encoding: 'utf8',
  });
  if (status === 0) return true;
  expect({ signal, stderr }).toEqual({ signal: 'SIGKILL', stderr: '' });
  return false;
}

test('a copy that is killed at many steps continues, and no server starts on it before', async () => {
  let kills = 0;
  for (let step = 3; !copied(`sqlite:${full}`, url, step); step += 7) {
    kills += 1;
    await expect(connectPostgresStore({ url })).rejects.toMatchObject({
      code: 'store_unreachable',
      message: expect.stringContaining('is an unfinished copy of sqlite:'),
    });
  }
  expect(kills).toBeGreaterThan(4);
  for (let step = 3; !copied(url, `sqlite:${empty}`, step); step += 7);
  expect(contentOf(empty)).toEqual(content);
  await using store = await connectPostgresStore({ url });
  expect((await store.stats()).driver).toContain('postgres');
});

test('an unfinished copy is not continued from a source that a server has written to since', async () => {
  expect(copied(`sqlite:${full}`, url, 9)).toBe(false);
  const database = engine.open(join(full, 'dragoman.db'));
  database.exec('UPDATE commits SET count = count + 1');
  database.close();
  await expect(copyStore({ from: `sqlite:${full}`, to: url })).rejects.toMatchObject({
    code: 'store_foreign',
    message: expect.stringContaining('is the unfinished copy of'),
  });
});

test('a value that was kept in a file is in the database afterwards, and a file that is gone is reported as before', async () => {
  const file = await new FileStorage({ root: join(full, 'stored') }).write('ann', {
    name: 'report',
    unique: '0'.repeat(32),
    bytes: Buffer.from('{"long":"é"}'),
  });
  const database = engine.open(join(full, 'dragoman.db'));
  const row = (name: string, at: string) =>
    `INSERT INTO stored_data (owner, name, value, file, bytes, labels, updated_at, checksum)
     VALUES ('ann', '${name}', NULL, '${at}', 13, NULL, 1, ${storedChecksumOf({ owner: 'ann', name, value: null, file: at, bytes: 13, labels: null, updatedAt: 1 })})`;
  const gone = file.replace('000-', '001-');
  database.exec(`${row('report', file)}; ${row('gone', gone)}`);
  database.close();
  await copyStore({ from: `sqlite:${full}`, to: url });
  await using store = await connectPostgresStore({ url });
  expect(await store.storedData.find('ann', 'report')).toMatchObject({ value: '{"long":"é"}', file: null });
  expect(await store.storedData.find('ann', 'gone')).toMatchObject({ value: null, file: gone });
});

test('a row that differs in the copy is found', async () => {
  await using source = await openSqliteSource(full);
  await using target = await openPostgresTarget(url);
  const insert: CopyTarget['insert'] = target.insert.bind(target);
  target.insert = (table, columns, rows) => {
    const isBad = table === 'frames' && rows.some((row) => row.includes(ROWS));
    return insert(table, columns, isBad ? rows.map((row) => row.map((value) => (value === ROWS ? 0 : value))) : rows);
  };
  await expect(copyRows({ source, target }, ignored)).rejects.toMatchObject({
    code: 'store_damaged',
    message: expect.stringContaining('The copy of frames differs'),
  });
});

test('a store that a server has open is refused, as a source and as a target', async () => {
  {
    await using _ = await openSqliteStore({ folder: empty, ballastBytes: 0, onFatal: ignored });
    await expect(copyStore({ from: `sqlite:${empty}`, to: url })).rejects.toMatchObject({ code: 'store_locked' });
  }
  await using _ = await connectPostgresStore({ url });
  await expect(copyStore({ from: `sqlite:${full}`, to: url })).rejects.toMatchObject({ code: 'store_locked' });
  await expect(copyStore({ from: url, to: `sqlite:${root}/new` })).rejects.toMatchObject({ code: 'store_locked' });
});

test('a target that is not empty is refused, and so is a source that is no store', async () => {
  const other = join(root, 'other');
  cpSync(template, other, { recursive: true });
  await copyStore({ from: `sqlite:${full}`, to: url });
  await expect(copyStore({ from: `sqlite:${other}`, to: url })).rejects.toMatchObject({
    code: 'store_foreign',
    message: expect.stringContaining('is not empty'),
  });
  await expect(copyStore({ from: url, to: `sqlite:${full}` })).rejects.toMatchObject({ code: 'store_foreign' });
  await expect(copyStore({ from: `sqlite:${empty}`, to: url })).rejects.toMatchObject({ code: 'store_foreign' });
  await expect(copyStore({ from: server.url('nothing'), to: `sqlite:${empty}` })).rejects.toMatchObject({
    code: 'store_foreign',
  });
  await expect(copyStore({ from: full, to: url })).rejects.toMatchObject({ code: 'store_unreachable' });
});
