import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../parts/system-ports.ts';
import { NdjsonSocketEdge } from './ndjson-socket.ts';

let folder = '';
const open: AsyncDisposable[] = [];
const children: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'socket-path-test-'));
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const edge of open.splice(0)) await edge[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** An edge without routes: the tests only check where it listens. */
async function listen(path: string): Promise<void> {
  const edge = new NdjsonSocketEdge({ host: { connect: () => undefined }, clock: systemClock });
  open.push(edge);
  await edge.listenUnix(path);
}

/** Another program that listens there. */
async function other(path: string): Promise<ChildProcess> {
  const program = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => console.log('there'))`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  await once(child.stdout ?? child, 'data');
  return child;
}

async function reach(path: string): Promise<void> {
  const socket = connect(path);
  await once(socket, 'connect');
  socket.on('error', () => {}).destroy();
}

test('a folder that is not there is made, for this user alone, as the socket is', async () => {
  const path = join(folder, 'new', 'wire.sock');
  const before = process.umask();
  await listen(path);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, 'new')).mode & 0o777).toBe(0o700);
  expect(process.umask()).toBe(before);
  await reach(path);
});

test('a socket is for this user alone whatever was to be taken off before', async () => {
  const path = join(folder, 'wire.sock');
  const before = process.umask(0);
  try {
    await listen(path);
  } finally {
    process.umask(before);
  }
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('the socket of a killed server is removed', async () => {
  const path = join(folder, 'wire.sock');
  const child = await other(path);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(existsSync(path)).toBe(true);
  await listen(path);
  await reach(path);
});

test('the socket of a running server is kept', async () => {
  const path = join(folder, 'wire.sock');
  await other(path);
  await expect(listen(path)).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await reach(path);
});

test('a second server on the same path is refused, and the first is not disturbed when it ends', async () => {
  const path = join(folder, 'wire.sock');
  await listen(path);
  await expect(listen(path)).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await open.pop()?.[Symbol.asyncDispose]();
  await reach(path);
});

test.each<[string, (path: string) => void]>([
  ['a file', (path) => writeFileSync(path, 'notes')],
  ['a folder', (path) => mkdirSync(path)],
  [
    'a link to a file',
    (path) => {
      writeFileSync(join(folder, 'notes'), 'notes');
      symlinkSync(join(folder, 'notes'), path);
    },
  ],
])('%s at the path is left there, and reported', async (_, make) => {
  const path = join(folder, 'wire.sock');
  make(path);
  const before = readdirSync(folder);
  await expect(listen(path)).rejects.toMatchObject({
    code: 'socket_path',
    message: `${path} exists and is not a socket`,
  });
  expect(readdirSync(folder)).toEqual(before);
  if (!statSync(path).isDirectory()) expect(readFileSync(path, 'utf8')).toBe('notes');
});

test('a path that is too long is reported, instead of creating a socket with another name', async () => {
  const path = join(folder, `${'x'.repeat(120)}.sock`);
  await expect(listen(path)).rejects.toMatchObject({
    code: 'socket_path',
    message: expect.stringMatching(/may have at most \d+ bytes; .* has \d+: use a shorter path/),
  });
  expect(readdirSync(folder)).toEqual([]);
});

test('a path below a file is reported', async () => {
  writeFileSync(join(folder, 'notes'), 'notes');
  await expect(listen(join(folder, 'notes', 'wire.sock'))).rejects.toMatchObject({
    code: 'socket_path',
    message: expect.stringContaining('a socket cannot be created at'),
  });
});
