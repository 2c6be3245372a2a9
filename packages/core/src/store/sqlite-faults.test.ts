import { existsSync, mkdtempSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { builtProgram } from '../../test-support/built-program.ts';
import { heldOf, rememberingHolds } from '../../test-support/held-runs.ts';
import { smallDisk } from '../../test-support/small-disk.ts';
import { CHECKPOINT, COMMIT, HOLD, INSERT, REACHED, SELECT } from './fixtures/faulty-engine.mjs';
import { ALL, frame, requestRow } from './requests.contract.ts';
import { openSqliteStore, type SqliteStore } from './sqlite-store.ts';
import type { StoreError } from './store-error.ts';

const root = mkdtempSync(join(tmpdir(), 'dragoman-faults-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const FAULTY_ENGINE = pathToFileURL(builtProgram(new URL('./fixtures/faulty-engine.mjs', import.meta.url))).href;
const UNAVAILABLE = { name: 'StoreError', code: 'store_unavailable' };

describe('with a driver that fails', () => {
  let folder: string;
  let control: Int32Array;
  let fatal: StoreError[];
  let logged: string[];
  let store: SqliteStore;

  beforeEach(async () => {
    folder = mkdtempSync(join(root, 'store-'));
    control = new Int32Array(new SharedArrayBuffer(64));
    fatal = [];
    logged = [];
    store = await open();
    await store.requests.accept(requestRow({ requestId: 'before' }));
  });

  afterEach(() => store[Symbol.asyncDispose]());

  async function open(): Promise<SqliteStore> {
    const write = (_: unknown, message: string) => void logged.push(message);
    const opened = await openSqliteStore({
      folder,
      ballastBytes: BALLAST,
      onFatal: (error) => fatal.push(error),
      log: { debug: write, info: write, warn: write, error: write },
      engine: { url: FAULTY_ENGINE, data: control },
    });
    return rememberingHolds(opened);
  }

  test('a failed fsync breaks the store: every write waiting or later is refused, and the host is notified once', async () => {
    Atomics.store(control, COMMIT, IOERR_FSYNC);
    const writes = ['a', 'b', 'c'].map((requestId) => store.requests.accept(requestRow({ requestId })));
    for (const write of writes) await expect(write).rejects.toMatchObject(UNAVAILABLE);
    Atomics.store(control, COMMIT, 0);
    await expect(store.requests.accept(requestRow({ requestId: 'later' }))).rejects.toMatchObject(UNAVAILABLE);
    await expect(store.keys.revoke('k', 1)).rejects.toMatchObject(UNAVAILABLE);
    expect(fatal).toHaveLength(1);
    expect(fatal[0]).toMatchObject({ ...UNAVAILABLE, message: expect.stringContaining('The disk failed') });
  });

  test('nothing that was queued behind a failed fsync is acknowledged', async () => {
    Atomics.store(control, HOLD, 1);
    const reached = Atomics.load(control, REACHED);
    const first = store.requests.accept(requestRow({ requestId: 'first' }));
    while (Atomics.load(control, REACHED) === reached) await new Promise(setImmediate);
    const second = store.requests.accept(requestRow({ requestId: 'second' }));
    Atomics.store(control, COMMIT, IOERR_FSYNC);
    Atomics.store(control, HOLD, 0);
    Atomics.notify(control, HOLD);
    expect(await Promise.allSettled([first, second])).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
    expect(fatal).toHaveLength(1);
  });

  test('after a failed fsync the next start has everything that was acknowledged', async () => {
    Atomics.store(control, COMMIT, IOERR_FSYNC);
    await expect(store.requests.accept(requestRow({ requestId: 'lost' }))).rejects.toMatchObject(UNAVAILABLE);
    await store[Symbol.asyncDispose]();
    Atomics.store(control, COMMIT, 0);
    store = await open();
    expect(await store.requests.claim(10)).toMatchObject([{ row: { requestId: 'before' } }]);
  });

  test('a failed fsync while the log is moved into the database breaks the store too', async () => {
    Atomics.store(control, CHECKPOINT, IOERR_FSYNC);
    // Enough that the log has to be moved.
    const envelope = 'x'.repeat(5_000_000);
    const writes = Array.from(
      { length: 20 },
      (_, index) => () => store.requests.accept(requestRow({ requestId: `r${index}`, envelope })),
    );
    await expect(inTurn(writes)).rejects.toMatchObject(UNAVAILABLE);
    expect(fatal).toHaveLength(1);
  });

  test.each([
    ['another program holds the database', BUSY],
    ['the disk is full', FULL],
  ])('a log that cannot be moved because %s stays, and is moved later', async (_, code) => {
    Atomics.store(control, CHECKPOINT, code);
    const envelope = 'x'.repeat(5_000_000);
    const accept = (requestId: string) => store.requests.accept(requestRow({ requestId, envelope }));
    await inTurn(['a', 'b', 'c', 'd'].map((requestId) => () => accept(requestId)));
    expect(await store.stats()).toMatchObject({ checkpoints: 0 });
    Atomics.store(control, CHECKPOINT, 0);
    await accept('e');
    expect((await store.stats()).checkpoints).toBeGreaterThan(0);
    expect((await store.requests.list({ limit: 10 })).rows).toHaveLength(6);
    expect(fatal).toEqual([]);
  });

  test('a disk that cannot be read breaks the store', async () => {
    Atomics.store(control, SELECT, IOERR_READ);
    await expect(store.requests.find({ owner: 'ann', requestId: 'before' })).rejects.toMatchObject(UNAVAILABLE);
    expect(fatal).toHaveLength(1);
  });

  test('a damaged page fails the read that finds it; other reads work', async () => {
    Atomics.store(control, SELECT, CORRUPT);
    await expect(store.keys.list()).rejects.toMatchObject({ code: 'store_damaged' });
    Atomics.store(control, SELECT, 0);
    expect(await store.keys.list()).toEqual([]);
    expect(fatal).toEqual([]);
  });

  test('a thread that dies is as bad as a disk that fails', async () => {
    Atomics.store(control, INSERT, -1);
    Atomics.store(control, COMMIT, -1);
    const write = store.requests.accept(requestRow({ requestId: 'odd' }));
    await expect(write).rejects.toMatchObject(UNAVAILABLE);
    expect(fatal).toHaveLength(1);
  });

  test.each([
    ['full', FULL],
    ['full for the shared memory of the log', IOERR_SHMSIZE],
    ['held by another program', BUSY],
    ['out of descriptors', CANTOPEN],
  ])('a disk that is %s refuses writes, answers reads, and recovers by itself', async (_, code) => {
    Atomics.store(control, COMMIT, code);
    await expect(store.requests.accept(requestRow())).rejects.toMatchObject(UNAVAILABLE);
    expect(await store.requests.find({ owner: 'ann', requestId: 'before' })).toBeDefined();
    expect(await store.requests.find(requestRow())).toBeUndefined();
    Atomics.store(control, COMMIT, 0);
    expect(await store.requests.accept(requestRow())).toMatchObject({ repeat: false });
    expect(fatal).toEqual([]);
  });

  test('a disk full in the middle of a batch records none of it', async () => {
    const before = { owner: 'ann', requestId: 'before' };
    Atomics.store(control, INSERT, FULL);
    const started = store.requests.start(heldOf(store, before));
    const accepted = store.requests.accept(requestRow());
    await expect(started).rejects.toMatchObject(UNAVAILABLE);
    await expect(accepted).rejects.toMatchObject(UNAVAILABLE);
    Atomics.store(control, INSERT, 0);
    expect((await store.requests.find(before))?.state).toBe('accepted');
  });

  test('a full disk is logged once, and so is its end', async () => {
    Atomics.store(control, COMMIT, FULL);
    for (let count = 0; count < 3; count += 1) {
      await expect(store.requests.accept(requestRow())).rejects.toMatchObject(UNAVAILABLE);
    }
    Atomics.store(control, COMMIT, 0);
    await store.requests.accept(requestRow());
    expect(logged).toEqual(['the disk is full: nothing new is recorded', 'the disk has room again']);
  });

  test('the ballast is there, and given up only for what makes room', async () => {
    const ballast = join(folder, 'ballast');
    expect(statSync(ballast).size).toBe(BALLAST);
    Atomics.store(control, COMMIT, FULL);
    await expect(store.requests.accept(requestRow())).rejects.toMatchObject(UNAVAILABLE);
    expect(existsSync(ballast)).toBe(true);
    await expect(store.requests.purge(1)).rejects.toMatchObject(UNAVAILABLE);
    expect(existsSync(ballast)).toBe(false);
    Atomics.store(control, COMMIT, 0);
    await store.requests.accept(requestRow());
    expect(statSync(ballast).size).toBe(BALLAST);
  });
});

// Several times what the log and the ballast take.
const diskPath = join(root, 'small-disk');
const disk = smallDisk(diskPath, { megabytes: 64 });
afterAll(() => disk[Symbol.dispose]());

describe.runIf(disk.why === '')(`on a small disk${disk.why}`, () => {
  let store: SqliteStore;
  let folder: string;
  let folders = 0;

  beforeEach(async () => {
    folders += 1;
    folder = join(diskPath, String(folders));
    store = rememberingHolds(await openSqliteStore({ folder, ballastBytes: BALLAST, onFatal }));
  });

  afterEach(async () => {
    await store[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  test('filled by its own writes: reads continue, deleting works, then writing again', async () => {
    const acknowledged = await fillUp(store);
    expect(acknowledged.length).toBeGreaterThan(10);
    for (const requestId of acknowledged) {
      expect(await store.requests.frames({ owner: 'ann', requestId }, ALL)).toHaveLength(1);
    }
    expect(await store.requests.purge(Number.MAX_SAFE_INTEGER)).toBeGreaterThanOrEqual(acknowledged.length);
    expect(await store.requests.accept(requestRow())).toMatchObject({ repeat: false });
  });

  test('filled by another program: writing continues when it frees space', async () => {
    const other = join(diskPath, 'other');
    await store.requests.accept(requestRow({ requestId: 'before' }));
    const { bavail, bsize } = statfsSync(diskPath);
    writeFileSync(other, Buffer.alloc(bavail * bsize));
    const refused = await fillUp(store);
    await expect(store.requests.accept(large('more'))).rejects.toMatchObject(UNAVAILABLE);
    expect(await store.requests.find({ owner: 'ann', requestId: 'before' })).toBeDefined();
    rmSync(other);
    expect(await store.requests.accept(large('more'))).toMatchObject({ repeat: false });
    expect(refused.length).toBeLessThan(10);
  });

  test('what was acknowledged before it was full is there after the next start', async () => {
    const acknowledged = await fillUp(store);
    await store[Symbol.asyncDispose]();
    store = rememberingHolds(await openSqliteStore({ folder, ballastBytes: BALLAST, onFatal }));
    for (const requestId of acknowledged) {
      expect(await store.requests.find({ owner: 'ann', requestId })).toMatchObject({ state: 'finished' });
    }
  });
});

if (disk.why !== '') test.skip(`on a small disk${disk.why}`, () => {});

/** Finished requests until there is no room; the ids of those acknowledged. */
async function fillUp(store: SqliteStore): Promise<string[]> {
  const acknowledged: string[] = [];
  for (let count = 0; ; count += 1) {
    const row = large(`r${count}`);
    try {
      await store.requests.accept(row);
      await store.requests.append(heldOf(store, row), [frame(0, { isFinal: true })]);
      acknowledged.push(row.requestId);
    } catch (error) {
      expect(error).toMatchObject(UNAVAILABLE);
      return acknowledged;
    }
  }
}

function large(requestId: string) {
  return requestRow({ requestId, envelope: JSON.stringify('x'.repeat(60_000)) });
}

async function inTurn(writes: readonly (() => Promise<unknown>)[]): Promise<void> {
  for (const write of writes) await write();
}

function onFatal(error: Error): void {
  throw error;
}

const BALLAST = 16_777_216;

// Result codes of SQLite.
const BUSY = 5;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const IOERR_READ = 266;
const IOERR_FSYNC = 1034;
const IOERR_SHMSIZE = 4874;
