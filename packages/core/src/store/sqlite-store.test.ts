import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { builtProgram } from '../../test-support/built-program.ts';
import { heldOf, rememberingHolds } from '../../test-support/held-runs.ts';
import { describeDamages } from './damages.contract.ts';
import { COMMIT, HOLD, REACHED } from './fixtures/faulty-engine.mjs';
import { ALL, frame, requestRow } from './requests.contract.ts';
import { loadEngine } from './sqlite-engine.ts';
import { openSqliteStore, type SqliteStore } from './sqlite-store.ts';
import { describeStore } from './store.contract.ts';
import type { Store } from './store.ts';

const NOBODYS = { id: 0, epoch: 0 };
const CANARY = 'canary-5d1e';
const root = mkdtempSync(join(tmpdir(), 'dragoman-store-'));
let folders = 0;

afterAll(() => rmSync(root, { recursive: true, force: true }));

const folderOf = new WeakMap<Store, string>();
describeStore('the store in SQLite', openNext);
describeDamages('SQLite', openNext);

describe('what was forgotten', () => {
  test('is in no file any more, whatever its size, while the store continues', async () => {
    const folder = newFolder();
    await using(folder, async (store) => {
      const inFiles = () =>
        ['dragoman.db', 'dragoman.db-wal'].filter((file) => readFileSync(join(folder, file)).includes(CANARY));
      const rows = [10, 3000, 100_000].map((size) => ({
        row: requestRow({ requestId: `r${size}`, envelope: JSON.stringify(`${CANARY}${'x'.repeat(size)}`) }),
        text: JSON.stringify(`${CANARY}${'y'.repeat(size)}`),
      }));
      for (const { row, text } of rows) {
        await store.requests.accept(row);
        await store.requests.append(heldOf(store, row), [frame(0, { text, isFinal: true })]);
        await store.requests.accept(requestRow({ requestId: `between-${row.requestId}` }));
      }
      expect(inFiles()).not.toEqual([]);
      const [one, ...others] = rows;
      if (one !== undefined) expect(await store.forgetting.request(one.row)).toBe('removed');
      expect((await store.forgetting.caller(requestRow().owner)).requests).toBe(others.length);
      expect(inFiles()).toEqual([]);
    });
  });
});

test('a value that cannot be sent to a thread fails only the call with it', async () => {
  await using(newFolder(), async (store) => {
    const odd = (() => {}) as unknown as number;
    const calls = [odd, 1, odd].map((priority, number) =>
      store.requests.accept(requestRow({ requestId: `r${number}`, priority })),
    );
    const settled = await Promise.allSettled(calls);
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected']);
    expect(await store.requests.accept(requestRow({ requestId: 'sound' }))).toBeDefined();
  });
});

describe('what was written', () => {
  test('is there after closing and opening again', async () => {
    const folder = newFolder();
    const row = requestRow({ sessionId: 's' });
    await using(folder, async (store) => {
      await store.requests.accept(row);
      await store.requests.append(heldOf(store, row), [frame(0), frame(1)]);
      await store.keys.put(KEY);
    });
    await using(folder, async (store) => {
      const [claimed] = await store.requests.claim(10);
      expect(claimed?.row).toEqual(row);
      expect(await store.requests.frames(row, ALL)).toEqual([frame(0), frame(1)]);
      expect(await store.keys.list()).toEqual([KEY]);
      await expect(store.requests.append(claimed?.held ?? NOBODYS, [frame(1)])).rejects.toThrow(
        'frame 1 where 2 was expected',
      );
    });
  });

  test('is all in one file after closing, and the folder is released', async () => {
    const folder = newFolder();
    await using(folder, async (store) => {
      await store.requests.accept(requestRow());
      expect(existsSync(join(folder, 'dragoman.owner'))).toBe(true);
    });
    expect(readdirSync(folder).sort()).toEqual(['dragoman.db', 'dragoman.db-commits', 'dragoman.lock']);
  });

  test('includes calls just before closing', async () => {
    const folder = newFolder();
    const store = await open(folder);
    const writes = Array.from({ length: 1000 }, (_, index) =>
      store.requests.accept(requestRow({ requestId: `r${index}` })),
    );
    await store[Symbol.asyncDispose]();
    expect(await Promise.all(writes)).toHaveLength(1000);
    await using(folder, async (again) => expect(await again.requests.claim(2000)).toHaveLength(1000));
  });

  test('is for its owner only to read', async () => {
    const folder = join(newFolder(), 'made', 'here');
    await using(folder, async (store) => {
      await store.requests.accept(requestRow());
      expect(statSync(folder).mode & 0o777).toBe(0o700);
      const log = ['dragoman.db-shm', 'dragoman.db-wal'];
      const files = ['dragoman.db', 'dragoman.db-commits', ...log, 'dragoman.lock', 'dragoman.owner'];
      expect(readdirSync(folder).sort()).toEqual(files);
      for (const file of files) expect([file, statSync(join(folder, file)).mode & 0o777]).toEqual([file, 0o600]);
    });
  });
});

describe('a folder that others may read', () => {
  test('is closed to them when it is empty', async () => {
    const folder = newFolder();
    mkdirSync(folder);
    chmodSync(folder, 0o755);
    await using(folder, async () => expect(statSync(folder).mode & 0o777).toBe(0o700));
  });

  test('keeps its mode when it holds other things, and a warning is logged', async () => {
    const folder = newFolder();
    mkdirSync(folder);
    writeFileSync(join(folder, 'photo.jpg'), '');
    chmodSync(folder, 0o755);
    const { log, lines } = recordingLog();
    const store = await openSqliteStore({ folder, ballastBytes: 0, onFatal, log });
    await store[Symbol.asyncDispose]();
    expect(statSync(folder).mode & 0o777).toBe(0o755);
    expect(lines).toEqual([expect.stringContaining('chmod 700')]);
  });
});

describe('group commit', () => {
  test('writes of one moment share commits, a dozen or more in each', async () => {
    await using(newFolder(), async (store) => {
      await Promise.all(
        Array.from({ length: 300 }, (_, index) => store.requests.accept(requestRow({ requestId: `r${index}` }))),
      );
      const { writes, commits } = await store.stats();
      expect(writes).toBe(300);
      expect(commits).toBeLessThanOrEqual(25);
    });
  });

  test('writes that come one by one while the disk is busy share the next commit', async () => {
    const { store, hold, release } = await openHeld();
    const first = store.requests.accept(requestRow({ requestId: 'first' }));
    await hold();
    const others: Promise<unknown>[] = [];
    for (let index = 0; index < 50; index += 1) {
      others.push(store.requests.accept(requestRow({ requestId: `r${index}` })));
      await new Promise(setImmediate);
    }
    release();
    await Promise.all([first, ...others]);
    expect(await store.stats()).toMatchObject({ writes: 51, commits: 2 });
    await store[Symbol.asyncDispose]();
  });

  test('a write waits for its own commit', async () => {
    const { store, hold, release } = await openHeld();
    let acknowledged = false;
    const write = store.requests.accept(requestRow()).then(() => {
      acknowledged = true;
    });
    await hold();
    await new Promise(setImmediate);
    expect(acknowledged).toBe(false);
    release();
    await write;
    await store[Symbol.asyncDispose]();
  });

  test('a read waits for one batch, not for the whole queue', async () => {
    const { store, hold, release } = await openHeld();
    const settled: string[] = [];
    const note = (name: string) => () => settled.push(name);
    const writes = Array.from({ length: 2000 }, (_, index) =>
      store.requests.accept(requestRow({ requestId: `r${index}` })),
    );
    await hold();
    const read = store.requests.find({ owner: 'ann', requestId: 'r0' });
    writes[0]?.then(note('first write'));
    writes[1999]?.then(note('last write'));
    read.then(note('read'));
    release();
    expect(await read).toBeDefined();
    await Promise.all(writes);
    expect(settled).toEqual(['first write', 'read', 'last write']);
    await store[Symbol.asyncDispose]();
  });

  test('an operation that fails half way leaves nothing behind, and its neighbours are recorded', async () => {
    await using(newFolder(), async (store) => {
      await store.keys.put(KEY);
      // The second row breaks a rule of the table after the first was written.
      const half = store.counters.add([count('kept out', 1), { ...count('bad', 1), count: Number.NaN }], 0);
      const whole = store.counters.add([count('kept', 1)], 0);
      await expect(half).rejects.toThrow('NOT NULL');
      await whole;
      expect((await store.counters.load(0)).map(({ name }) => name)).toEqual(['kept']);
    });
  });
});

describe('the write-ahead log', () => {
  test('stays short however much is written', async () => {
    const folder = newFolder();
    await using(folder, async (store) => {
      const envelope = JSON.stringify('x'.repeat(100_000));
      for (let round = 0; round < 30; round += 1) {
        const rows = Array.from({ length: 25 }, (_, index) => requestRow({ requestId: `${round}/${index}`, envelope }));
        await Promise.all(rows.map((row) => store.requests.accept(row)));
      }
      expect((await store.stats()).checkpoints).toBeGreaterThan(0);
      expect(statSync(join(folder, 'dragoman.db-wal')).size).toBeLessThan(48 * 1_048_576);
    });
  });
});

describe('the process around it', () => {
  test('may end while a store is open and idle, but not while it records', () => {
    const code = `
      import { openSqliteStore } from '${new URL('./sqlite-store.ts', import.meta.url)}';
      const store = await openSqliteStore({ folder: ${JSON.stringify(newFolder())}, ballastBytes: 0, onFatal() {} });
      store.requests.accept(${JSON.stringify(requestRow())}).then(() => console.log('recorded'));`;
    const options = [
      '--conditions=dragoman:source',
      '--import',
      import.meta.resolve('tsx'),
      '--input-type=module',
      '--eval',
      code,
    ];
    const { status, stdout } = spawnSync(process.execPath, options, { encoding: 'utf8', timeout: 60_000 });
    expect([status, stdout]).toEqual([0, 'recorded\n']);
  });
});

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

function count(name: string, value: number) {
  return { principal: 'ann', name, slice: 100, count: value };
}

function newFolder(): string {
  folders += 1;
  return join(root, String(folders));
}

async function openNext(earlier?: Store, statement?: string): Promise<Store> {
  await earlier?.[Symbol.asyncDispose]();
  const folder = (earlier && folderOf.get(earlier)) ?? newFolder();
  if (statement !== undefined) {
    const database = (await loadEngine()).open(join(folder, 'dragoman.db'));
    database.exec(statement);
    database.close();
  }
  const store = await open(folder);
  folderOf.set(store, folder);
  return store;
}

async function open(folder: string): Promise<SqliteStore> {
  return rememberingHolds(await openSqliteStore({ folder, ballastBytes: 0, onFatal }));
}

async function using(folder: string, use: (store: SqliteStore) => Promise<void>): Promise<void> {
  const store = await open(folder);
  try {
    await use(store);
  } finally {
    await store[Symbol.asyncDispose]();
  }
}

/** A store whose first commit waits: `hold` resolves when the thread stands in it. */
async function openHeld() {
  const control = new Int32Array(new SharedArrayBuffer(64));
  const url = pathToFileURL(builtProgram(new URL('./fixtures/faulty-engine.mjs', import.meta.url))).href;
  const store = await openSqliteStore({
    folder: newFolder(),
    ballastBytes: 0,
    onFatal,
    engine: { url, data: control },
  });
  Atomics.store(control, HOLD, 1);
  const before = Atomics.load(control, REACHED);
  return {
    store,
    hold: async () => {
      while (Atomics.load(control, REACHED) === before) await new Promise(setImmediate);
      expect(control[COMMIT]).toBe(0);
    },
    release: () => {
      Atomics.store(control, HOLD, 0);
      Atomics.notify(control, HOLD);
    },
  };
}

function recordingLog() {
  const lines: string[] = [];
  const write = (_: unknown, message: string) => void lines.push(message);
  return { lines, log: { debug: write, info: write, warn: write, error: write } };
}

function onFatal(error: Error): void {
  throw error;
}
