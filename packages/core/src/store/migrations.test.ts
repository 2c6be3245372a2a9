import { beforeEach, describe, expect, test } from 'vitest';
import { APPLICATION_ID, MIGRATIONS, migrate } from './migrations.ts';
import { type Database, loadEngine } from './sqlite-engine.ts';

let database: Database;

beforeEach(async () => {
  database = (await loadEngine()).open(':memory:');
});

describe('migrations', () => {
  test('bring an empty database to the newest version', () => {
    migrate(database, 'path');
    expect(value('user_version')).toBe(MIGRATIONS.length);
    expect(value('application_id')).toBe(APPLICATION_ID);
  });

  test('run once', () => {
    migrate(database, 'path');
    database.exec("INSERT INTO agents (agent_id, definition, created_at) VALUES ('a', '{}', 1)");
    migrate(database, 'path');
    expect(database.prepare('SELECT count(*) AS count FROM agents').get()).toEqual({ count: 1 });
  });

  test('from every earlier version lead to the same tables as from nothing', async () => {
    migrate(database, 'path');
    const engine = await loadEngine();
    for (let version = 1; version < MIGRATIONS.length; version += 1) {
      const old = engine.open(':memory:');
      const steps = MIGRATIONS.slice(0, version).join(';');
      old.exec(`${steps}; PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${version}`);
      migrate(old, 'path');
      expect(tables(old)).toEqual(tables(database));
      old.close();
    }
    expect(tables(database)).toHaveLength(MIGRATIONS.join('').match(/CREATE TABLE/g)?.length ?? 0);
  });

  test('a step that fails leaves the version before it', () => {
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}; CREATE TABLE counters (a)`);
    expect(() => migrate(database, 'path')).toThrow('already exists');
    if (database.isTransaction) database.exec('ROLLBACK');
    expect(value('user_version')).toBe(0);
    expect(tables(database)).toHaveLength(1);
  });

  test('every row hangs on its owner: with a request its frames go', () => {
    migrate(database, 'path');
    database.exec(`
      PRAGMA foreign_keys = ON;
      INSERT INTO requests (id, owner, request_id, agent_id, envelope, accepted_at, priority, checksum)
        VALUES (1, 'ann', 'r', 'echo', '{}', 1, 5, 0);
      INSERT INTO frames VALUES (1, 0, 1, 0, NULL, '{}', 0);
      INSERT INTO open_requests (request, started) VALUES (1, 0);
      DELETE FROM requests`);
    expect(
      database.prepare('SELECT (SELECT count(*) FROM frames) + (SELECT count(*) FROM open_requests) AS count').get(),
    ).toEqual({
      count: 0,
    });
  });
});

function value(pragma: string): unknown {
  return Object.values(Object(database.prepare(`PRAGMA ${pragma}`).get()))[0];
}

function tables(of: Database): unknown[] {
  return of.prepare("SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name").all();
}
