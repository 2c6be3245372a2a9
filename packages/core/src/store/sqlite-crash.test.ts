import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { afterAll, describe, expect, test } from 'vitest';
import { builtProgram } from '../../test-support/built-program.ts';
import { ALL } from './requests.contract.ts';
import { openSqliteStore, type SqliteStore } from './sqlite-store.ts';

const root = mkdtempSync(join(tmpdir(), 'dragoman-crash-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe('kill -9', () => {
  test.each([
    ['as fast as it can', 8],
    ['one after the other', 1],
  ])('of a process that writes %s loses no acknowledged write', { timeout: 300_000 }, async (_, lanes) => {
    const folder = join(root, `killed-${lanes}`);
    const acknowledged: string[] = [];
    for (let cycle = 0; cycle < 16; cycle += 1) {
      // Another moment each time: from the first acknowledgement to deep in the stream.
      acknowledged.push(
        ...(await writeAndKill(folder, { prefix: `c${cycle}`, lanes, count: 1 + ((cycle * 37) % 200) })),
      );
      const store = await openSqliteStore({ folder, ballastBytes: 0, onFatal });
      await expectAllThere(store, acknowledged);
      await store[Symbol.asyncDispose]();
    }
    expect(acknowledged.length).toBeGreaterThan(16);
  });
});

describe('a second process on the same folder', () => {
  test('is refused with the name of the first and the way out', async () => {
    const folder = join(root, 'shared');
    const store = await openSqliteStore({ folder, ballastBytes: 0, onFatal });
    const { status, stdout } = spawnSync(process.execPath, writerArguments(folder, WRITER), { encoding: 'utf8' });
    await store[Symbol.asyncDispose]();
    expect(status).toBe(3);
    expect(stdout).toMatch(/^refused store_locked /);
    expect(stdout).toContain(`in use by process ${process.pid} on `);
    expect(stdout).toMatch(/since \d{4}-\d\d-\d\dT.*Stop that process first, or choose another data folder/);
  });

  test('is welcome once the first was killed', async () => {
    const folder = join(root, 'inherited');
    await writeAndKill(folder, { ...WRITER, count: 1 });
    const store = await openSqliteStore({ folder, ballastBytes: 0, onFatal });
    await store[Symbol.asyncDispose]();
  });

  test('so is a second store in the same process', async () => {
    const folder = join(root, 'twice');
    const store = await openSqliteStore({ folder, ballastBytes: 0, onFatal });
    await expect(openSqliteStore({ folder, onFatal })).rejects.toMatchObject({ code: 'store_locked' });
    // And the first still holds it.
    await expect(openSqliteStore({ folder, onFatal })).rejects.toMatchObject({ code: 'store_locked' });
    await store[Symbol.asyncDispose]();
  });
});

const strace = straceWorks();

describe.runIf(strace === '')(`a real fsync that fails${strace}`, () => {
  // Opening takes some of them, more with every migration; these come after it.
  test.each([
    { number: 125, lanes: 8 },
    { number: 140, lanes: 8 },
    { number: 155, lanes: 8 },
    { number: 200, lanes: 1 },
    { number: 231, lanes: 1 },
  ])(
    'once, at number $number of $lanes at once: the process ends, and what it acknowledged is there',
    async ({ number, lanes }) => {
      const folder = join(root, `fsync-${number}`);
      const inject = ['-f', '-qq', '-o', '/dev/null', '-e', 'trace=fsync,fdatasync'];
      inject.push('-e', `inject=fsync,fdatasync:error=EIO:when=${number}`);
      const { status, stdout } = spawnSync(
        'strace',
        [...inject, process.execPath, ...writerArguments(folder, { ...WRITER, lanes })],
        {
          encoding: 'utf8',
        },
      );
      const lines = stdout.trimEnd().split('\n');
      expect(lines.at(-1)).toMatch(/^fatal store_unavailable The disk failed/);
      expect(status).toBe(70);
      const store = await openSqliteStore({ folder, ballastBytes: 0, onFatal });
      await expectAllThere(store, lines);
      await store[Symbol.asyncDispose]();
    },
  );
});

if (strace !== '') test.skip(`a real fsync that fails${strace}`, () => {});

/** Every acknowledged request with at least its acknowledged frames, and no gap in any stream. */
async function expectAllThere(store: SqliteStore, acknowledged: readonly string[]): Promise<void> {
  const last = new Map<string, number>();
  for (const line of acknowledged) {
    const [word, owner, requestId, sequence] = line.split(' ');
    if (word === 'accepted') last.set(`${owner} ${requestId}`, -1);
    if (word === 'frames') last.set(`${owner} ${requestId}`, Number(sequence));
  }
  await Promise.all(
    [...last].map(async ([name, acknowledged]) => {
      const [owner = '', requestId = ''] = name.split(' ');
      const row = await store.requests.find({ owner, requestId });
      const frames = await store.requests.frames({ owner, requestId }, ALL);
      expect(row, name).toBeDefined();
      expect(frames.length, name).toBeGreaterThan(acknowledged);
      expect(frames.map(({ sequence }) => sequence)).toEqual(frames.map((_, index) => index));
      expect(row?.state === 'finished', name).toBe(frames.at(-1)?.isFinal === true);
    }),
  );
}

/** All writes the writer reported as acknowledged, up to its end: at least `count` lines. */
async function writeAndKill(
  folder: string,
  { count, ...writer }: typeof WRITER & { count: number },
): Promise<string[]> {
  const child: ChildProcessByStdio<null, Readable, null> = spawn(process.execPath, writerArguments(folder, writer), {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((exited) => child.once('exit', exited));
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    if (line !== 'open') lines.push(line);
    if (lines.length === count) child.kill('SIGKILL');
  }
  await ended;
  expect(lines.length).toBeGreaterThanOrEqual(count);
  expect(child.signalCode).toBe('SIGKILL');
  return lines;
}

function writerArguments(folder: string, { prefix, lanes }: typeof WRITER): string[] {
  return [builtProgram(new URL('./fixtures/writer.mjs', import.meta.url)), folder, prefix, String(lanes)];
}

/** How it names its requests, and how many it writes at once. */
const WRITER = { prefix: 'p', lanes: 8 };

/** Empty when it does, else why not. */
function straceWorks(): string {
  const { status, error } = spawnSync('strace', ['-qq', '-o', '/dev/null', '-e', 'inject=fsync:error=EIO', 'true']);
  return status === 0 ? '' : ` (not here: ${error?.message ?? 'strace may not trace'})`;
}

function onFatal(error: Error): void {
  throw error;
}
