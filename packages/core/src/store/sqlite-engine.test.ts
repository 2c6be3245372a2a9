import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type Database, faultOf, loadEngine } from './sqlite-engine.ts';

const root = mkdtempSync(join(tmpdir(), 'dragoman-engine-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe('the driver', () => {
  test('is the one of this version of Node', async () => {
    const builtIn = Number.parseInt(process.versions.node, 10) >= 24;
    expect((await loadEngine()).name).toBe(builtIn ? 'node:sqlite' : '@photostructure/sqlite');
  });

  test('that does not load is reported with the fix', async (context) => {
    context.skip(isBuiltin('node:sqlite'), 'this Node has node:sqlite, so there is no version of it to miss it on');
    await expect(loadEngine('24.1.0')).rejects.toMatchObject({
      code: 'driver_missing',
      message: expect.stringMatching(/node:sqlite does not load on Node 24\.1\.0\. .*--include=optional/),
    });
  });
});

describe('an error of the driver is understood, whichever way it comes:', () => {
  const ways: Record<string, (database: Database, sql: string) => unknown> = {
    exec: (database, sql) => database.exec(sql),
    run: (database, sql) => database.prepare(sql).run(),
    get: (database, sql) => database.prepare(sql).get(),
    all: (database, sql) => database.prepare(sql).all(),
    iterate: (database, sql) => [...database.prepare(sql).iterate()],
  };

  test.each(Object.entries(ways))('%s', async (name, way) => {
    const engine = await loadEngine();
    const path = join(root, `${name}.db`);
    const database = engine.open(path);
    const other = engine.open(path);
    database.exec('PRAGMA busy_timeout = 0; CREATE TABLE t (a UNIQUE); INSERT INTO t VALUES (1)');
    expect(faultIn(() => way(database, 'INSERT INTO t VALUES (1)'))).toBe('operation');
    other.exec('BEGIN EXCLUSIVE');
    expect(faultIn(() => way(database, 'SELECT * FROM t'))).toBe('busy');
    other.close();
    database.exec('PRAGMA max_page_count = 2');
    expect(faultIn(() => way(database, "INSERT INTO t VALUES (printf('%.9000c', 'x'))"))).toBe('full');
    database.close();

    writeFileSync(join(root, 'noise.db'), 'not a database'.repeat(100));
    const noise = engine.open(join(root, 'noise.db'));
    expect(faultIn(() => way(noise, 'SELECT * FROM sqlite_master'))).toBe('damaged');
    noise.close();
  });

  test('and an error that is not of the driver is the operation’s own', () => {
    expect(faultOf(new Error('database or disk is full'))).toBe('operation');
    expect(faultOf('broken')).toBe('operation');
  });
});

function faultIn(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    return faultOf(error);
  }
  return 'none';
}
