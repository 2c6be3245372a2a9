import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Log } from '../ports/ports.ts';
import { CommitMarker } from './commit-marker.ts';
import { requestRow } from './requests.contract.ts';
import { openSqliteStore } from './sqlite-store.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-marker-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const marker = () => join(folder, 'dragoman.db-commits');
const commits = () => JSON.parse(readFileSync(marker(), 'utf8')).commits;

describe('the marker of commits', () => {
  test('is written at most once a second, with the newest number', () => {
    let now = 0;
    const written = new CommitMarker({ folder, elapsed: () => now });
    written.note(() => 1);
    expect(commits()).toBe(1);
    now = 999;
    written.note(() => 2);
    expect(commits()).toBe(1);
    now = 1000;
    written.note(() => 3);
    expect(commits()).toBe(3);
    written.write(4);
    expect(written.read()).toBe(4);
  });

  test.each(['', '{"commits":', '{"commits":"many"}'])('that reads %j counts as none', (text) => {
    writeFileSync(marker(), text);
    expect(new CommitMarker({ folder, elapsed: () => 0 }).read()).toBe(0);
  });

  test('that cannot be written leaves the one before', () => {
    const written = new CommitMarker({ folder, elapsed: () => 0 });
    written.write(1);
    mkdirSync(`${marker()}.part`);
    written.write(2);
    expect(written.read()).toBe(1);
  });
});

describe('a database', () => {
  test('whose file is removed while it is open is reported with its next commit', async () => {
    const lines: string[] = [];
    const silent = () => {};
    const error = (_: object, message: string) => void lines.push(message);
    await using store = await open({ log: { debug: silent, info: silent, warn: silent, error } });
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
    await store.requests.accept(requestRow({ requestId: 'lost' }));
    await expect.poll(() => lines).toContainEqual(expect.stringContaining('dragoman.db was removed'));
  });

  test('that lost commits is refused, however often, until the loss is accepted', async () => {
    await write('one');
    const old = readFileSync(join(folder, 'dragoman.db'));
    await write('two');
    writeFileSync(join(folder, 'dragoman.db'), old);
    for (let tries = 0; tries < 2; tries += 1) {
      await expect(open()).rejects.toMatchObject({
        code: 'store_lost',
        message: expect.stringMatching(/contains 1 commits, and at least 2/),
      });
    }
    await using store = await open({ acceptLoss: true });
    expect(await store.requests.claim(10)).toMatchObject([{ row: { requestId: 'one' } }]);
  });

  test('whose loss was accepted once opens without a word afterwards', async () => {
    await write('one');
    writeFileSync(marker(), '{"commits":1000}');
    await (await open({ acceptLoss: true }))[Symbol.asyncDispose]();
    await (await open())[Symbol.asyncDispose]();
    expect(commits()).toBe(1);
  });

  test('ahead of its marker, as after a crash, opens', async () => {
    await write('one');
    writeFileSync(marker(), '{"commits":0}');
    await (await open())[Symbol.asyncDispose]();
  });

  test('restored from a backup without its marker opens', async () => {
    await write('one');
    const old = readFileSync(join(folder, 'dragoman.db'));
    await write('two');
    rmSync(marker());
    writeFileSync(join(folder, 'dragoman.db'), old);
    await (await open())[Symbol.asyncDispose]();
  });

  test.each([
    ['a log', 'dragoman.db-wal'],
    ['a marker', 'dragoman.db-commits'],
    ['a vault key', 'vault.key'],
    ['stored files', 'stored/0123'],
  ])('that is missing or empty beside %s is not made again', async (_, left) => {
    mkdirSync(join(folder, 'stored'));
    writeFileSync(join(folder, left), 'x');
    await expect(open()).rejects.toMatchObject({
      code: 'store_lost',
      message: expect.stringContaining('missing or empty'),
    });
    expect(existsSync(join(folder, 'dragoman.db'))).toBe(false);
    writeFileSync(join(folder, 'dragoman.db'), '');
    await expect(open()).rejects.toMatchObject({ code: 'store_lost' });
    await (await open({ acceptLoss: true }))[Symbol.asyncDispose]();
  });
});

function open(options: { acceptLoss?: boolean; log?: Log } = {}) {
  return openSqliteStore({ folder, ballastBytes: 0, onFatal: () => {}, ...options });
}

async function write(requestId: string): Promise<void> {
  await using store = await open();
  await store.requests.accept(requestRow({ requestId }));
}
