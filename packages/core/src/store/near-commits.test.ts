import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { threadId } from 'node:worker_threads';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { builtProgram } from '../../test-support/built-program.ts';
import { COMMIT, COMMITTER, HOLD, INSERT, ONLY, REACHED } from './fixtures/faulty-engine.mjs';
import { describeForgetting } from './forgetting.contract.ts';
import { ALL, describeRequests, frame, requestRow } from './requests.contract.ts';
import { describeSessions } from './sessions.contract.ts';
import { LOG_BYTES } from './sqlite-database.ts';
import { openSqliteStore, type SqliteStore } from './sqlite-store.ts';
import type { StoreError } from './store-error.ts';

const root = mkdtempSync(join(tmpdir(), 'dragoman-near-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const FAULTY_ENGINE = pathToFileURL(builtProgram(new URL('./fixtures/faulty-engine.mjs', import.meta.url))).href;
const UNAVAILABLE = { name: 'StoreError', code: 'store_unavailable' };

let folder: string;
let control: Int32Array;
let fatal: StoreError[];
/** What the clock says next, and how much it goes on each time it is read. */
let now: number;
let step: number;

async function open(): Promise<SqliteStore> {
  return openSqliteStore({
    folder,
    ballastBytes: 0,
    onFatal: (error) => fatal.push(error),
    engine: { url: FAULTY_ENGINE, data: control },
    elapsed: () => {
      now += step;
      return now;
    },
  });
}

/** One that has proven quick, and whose lone writes are therefore committed where they are asked for. */
async function openNear(): Promise<SqliteStore> {
  const store = await open();
  await untilNear(store);
  return store;
}

async function untilNear(store: SqliteStore): Promise<void> {
  for (let count = 0; (await loneWrite(store)) !== 'near'; count++) expect(count).toBeLessThan(10_000);
}

/** Where a lone write was committed; it changes nothing. */
async function loneWrite(store: SqliteStore): Promise<'near' | 'in the thread'> {
  expect(await store.requests.start({ owner: 'nobody', requestId: 'none' })).toBe(false);
  return committedBy();
}

/** The number of the store's thread. */
async function threadOf(store: SqliteStore): Promise<number> {
  await store.requests.accept(requestRow({ requestId: 'too large to be near', envelope: 'x'.repeat(70_000) }));
  return control[COMMITTER] ?? 0;
}

function committedBy(): 'near' | 'in the thread' {
  return control[COMMITTER] === threadId ? 'near' : 'in the thread';
}

beforeEach(setUp);

function setUp(): void {
  folder = mkdtempSync(join(root, 'store-'));
  control = new Int32Array(new SharedArrayBuffer(64)).fill(-1, COMMITTER, COMMITTER + 1);
  fatal = [];
  now = 0;
  step = 0;
}

for (const describeFamily of [describeRequests, describeSessions, describeForgetting]) {
  describeFamily('the store in SQLite with lone writes committed near', () => {
    setUp();
    return openNear();
  });
}

describe('a lone write', () => {
  let store: SqliteStore;

  afterEach(() => store[Symbol.asyncDispose]());

  test('is committed by the thread until the disk has proven quick', async () => {
    store = await open();
    for (let count = 0; count < 31; count++) expect(await loneWrite(store)).toBe('in the thread');
    await expect.poll(() => loneWrite(store)).toBe('near');
  });

  test('is committed by the thread for ever where the disk is slow', async () => {
    step = 4;
    store = await open();
    for (let count = 0; count < 100; count++) expect(await loneWrite(store)).toBe('in the thread');
  });

  test('is the thread’s again after one that was slow, until it has proven quick again', async () => {
    store = await openNear();
    step = 4;
    expect(await loneWrite(store)).toBe('near');
    step = 0;
    for (let count = 0; count < 32; count++) expect(await loneWrite(store)).toBe('in the thread');
    expect(await loneWrite(store)).toBe('near');
  });

  test('is seen by those who ask the thread, and is there after the next start', async () => {
    store = await openNear();
    const row = requestRow({ sessionId: 's' });
    expect(await store.requests.accept(row)).toEqual({ repeat: false });
    await store.requests.append(row, [frame(0), frame(1, { isFinal: true })]);
    expect(committedBy()).toBe('near');
    expect(await store.requests.frames(row, ALL)).toHaveLength(2);
    expect(await store.requests.accept(row)).toMatchObject({ repeat: true, row: { state: 'finished' } });
    await store[Symbol.asyncDispose]();
    store = await open();
    expect(await store.requests.frames(row, ALL)).toHaveLength(2);
    expect(await store.requests.find(row)).toMatchObject({ state: 'finished' });
  });

  test('that is large is the thread’s, and so is one with others beside it', async () => {
    store = await openNear();
    await store.requests.accept(requestRow({ requestId: 'large', envelope: 'x'.repeat(70_000) }));
    expect(committedBy()).toBe('in the thread');
    expect(await loneWrite(store)).toBe('near');
    await Promise.all(['a', 'b'].map((requestId) => store.requests.accept(requestRow({ requestId }))));
    expect(committedBy()).toBe('in the thread');
  });

  test('beside one that the thread is busy with is the thread’s', async () => {
    store = await openNear();
    const thread = await threadOf(store);
    Atomics.store(control, ONLY, thread + 1);
    Atomics.store(control, HOLD, 1);
    const reached = Atomics.load(control, REACHED);
    const large = store.requests.accept(requestRow({ requestId: 'large', envelope: 'x'.repeat(70_000) }));
    while (Atomics.load(control, REACHED) === reached) await new Promise(setImmediate);
    const small = store.requests.accept(requestRow({ requestId: 'small' }));
    for (let turns = 0; turns < 5; turns++) await new Promise(setImmediate);
    Atomics.store(control, HOLD, 0);
    Atomics.notify(control, HOLD);
    expect(await Promise.all([large, small])).toEqual([{ repeat: false }, { repeat: false }]);
    expect(committedBy()).toBe('in the thread');
  });

  test('with others before it is the thread’s: the next would be held up by it', async () => {
    store = await openNear();
    await Promise.all(['a', 'b'].map((requestId) => store.requests.accept(requestRow({ requestId }))));
    for (let count = 0; count < 8; count++) expect(await loneWrite(store)).toBe('in the thread');
    expect(await loneWrite(store)).toBe('near');
  });

  test('that cannot be done is refused in the same words, and nothing of it is recorded', async () => {
    store = await openNear();
    const row = requestRow();
    await store.requests.accept(row);
    expect(committedBy()).toBe('near');
    const twice = store.requests.append(row, [frame(0), frame(0)]);
    await expect(twice).rejects.toThrow('frame 0 where 1 was expected');
    expect(await store.requests.frames(row, ALL)).toEqual([]);
    expect(await loneWrite(store)).toBe('near');
  });

  test('whose fsync fails breaks the store as in the thread', async () => {
    store = await openNear();
    Atomics.store(control, ONLY, threadId + 1);
    Atomics.store(control, COMMIT, IOERR_FSYNC);
    await expect(store.requests.accept(requestRow())).rejects.toMatchObject(UNAVAILABLE);
    Atomics.store(control, COMMIT, 0);
    await expect(store.requests.accept(requestRow())).rejects.toMatchObject(UNAVAILABLE);
    expect(fatal).toEqual([
      expect.objectContaining({ ...UNAVAILABLE, message: expect.stringContaining('The disk failed') }),
    ]);
    await store[Symbol.asyncDispose]();
    store = await open();
    expect(await store.requests.find(requestRow())).toBeUndefined();
  });

  test('that fails for want of room is tried by the thread, which has some kept back', async () => {
    store = await openNear();
    Atomics.store(control, ONLY, threadId + 1);
    Atomics.store(control, COMMIT, FULL);
    expect(await store.requests.accept(requestRow())).toEqual({ repeat: false });
    Atomics.store(control, COMMIT, 0);
    expect(await store.requests.find(requestRow())).toBeDefined();
    expect(await loneWrite(store)).toBe('in the thread');
  });

  test.each([
    ['a full disk', FULL],
    ['another program that holds the database', BUSY],
  ])('is refused for %s by the thread, which it stays with until that is over', async (_, code) => {
    store = await openNear();
    for (const place of [COMMIT, INSERT]) {
      Atomics.store(control, place, code);
      await expect(store.requests.accept(requestRow())).rejects.toMatchObject(UNAVAILABLE);
      Atomics.store(control, place, 0);
    }
    expect(await store.requests.find(requestRow())).toBeUndefined();
    expect(await loneWrite(store)).toBe('in the thread');
    expect(await store.requests.accept(requestRow())).toEqual({ repeat: false });
    expect(fatal).toEqual([]);
  });

  test('makes the log no longer than others do, and is counted', async () => {
    store = await openNear();
    const before = await store.stats();
    const envelope = 'x'.repeat(20_000);
    let near = 0;
    for (let count = 0; count < 2000; count++) {
      await store.requests.accept(requestRow({ requestId: `r${count}`, envelope }));
      if (committedBy() === 'near') near += 1;
    }
    expect(near).toBeGreaterThan(0);
    const after = await store.stats();
    expect(after.writes - before.writes).toBe(2000);
    expect(after.checkpoints).toBeGreaterThan(before.checkpoints);
    expect(statSync(join(folder, 'dragoman.db-wal')).size).toBeLessThan(2 * LOG_BYTES);
    // The log may be on the move when the last is written, which is the thread's business then.
    await untilNear(store);
  });

  test('just before closing is recorded', async () => {
    store = await openNear();
    const accepted = store.requests.accept(requestRow());
    await store[Symbol.asyncDispose]();
    expect(await accepted).toEqual({ repeat: false });
    store = await open();
    expect(await store.requests.find(requestRow())).toBeDefined();
  });
});

// Result codes of SQLite.
const BUSY = 5;
const FULL = 13;
const IOERR_FSYNC = 1034;
