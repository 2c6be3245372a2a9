import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { smallDisk } from '../../test-support/small-disk.ts';
import { failureOf } from '../refusals/refused.ts';
import { FileStorage } from './file-storage.ts';

let folder: string;
let files: FileStorage;
let number = 0;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-files-'));
  files = new FileStorage({ root: join(folder, 'stored') });
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const bytes = new TextEncoder().encode('{"a":1}');
const write = (owner: string, name: string) => {
  number += 1;
  return files.write(owner, { name, unique: number.toString(16).padStart(32, '0'), bytes });
};

const NAMES = [
  '../../x',
  '/etc/passwd',
  'a\0b',
  '%2e%2e%2f',
  '\\\\server\\share',
  'CON',
  'NUL.txt',
  'x'.repeat(256),
  'é',
  'e\u0301',
  'Key',
  'key',
  '.',
  '..',
  '',
  'a/b',
  '\u202egpj.exe',
];

test('whatever a key or an agent is called, its file is below the root, apart from every other, and read back', async () => {
  const made = new Set<string>();
  for (const name of NAMES) {
    for (const owner of ['ann', '../bob']) {
      const file = await write(owner, name);
      made.add(file);
      expect(await files.read(file)).toEqual(Buffer.from(bytes));
    }
  }
  expect(made.size).toBe(NAMES.length * 2);
  expect(readdirSync(folder)).toEqual(['stored']);
  expect(readdirSync(join(folder, 'stored'))).toHaveLength(2);
});

test('hundreds of ways to climb out of a folder lead nowhere', async () => {
  const dots = ['..', '.', '...', '%2e%2e', '%252e%252e', '..%00', '\uff0e\uff0e', '..\0', '%c0%ae%c0%ae', '.\u200b.'];
  const slashes = ['/', '\\', '%2f', '%5c', '%252f', '\u2215', '//', '/./', '\\/', '%c0%af'];
  const goals = ['etc/passwd', 'stored', 'C:\\boot.ini', 'dragoman.db', '~root', ''];
  const names = dots.flatMap((dot) =>
    slashes.flatMap((slash) => goals.map((goal, index) => `${`${dot}${slash}`.repeat(index + 1)}${goal}`)),
  );
  const made = new Set<string>();
  // Several at once: each waits for the disk.
  for (let at = 0; at < names.length; at += 50) {
    for (const file of await Promise.all(names.slice(at, at + 50).map((name) => write('ann', name)))) made.add(file);
  }
  expect(names).toHaveLength(600);
  expect(made.size).toBe(new Set(names).size);
  expect(readdirSync(folder)).toEqual(['stored']);
  const below = readdirSync(folder, { recursive: true, withFileTypes: true });
  expect(below.filter((entry) => entry.isFile())).toHaveLength(made.size);
  for (const file of made) expect(file).toMatch(/^[0-9a-f]+\/[0-9a-f.-]+$/);
});

test('a link in place of a file or of a folder is not followed', async () => {
  const secret = join(folder, 'secret');
  writeFileSync(secret, 'secret');
  const file = await write('ann', 'one');
  const path = join(folder, 'stored', file);
  rmSync(path);
  symlinkSync(secret, path);
  await expect(files.read(file)).rejects.toThrow();
  const [own = ''] = readdirSync(join(folder, 'stored'));
  rmSync(join(folder, 'stored', own), { recursive: true });
  mkdirSync(join(folder, 'elsewhere'));
  symlinkSync(join(folder, 'elsewhere'), join(folder, 'stored', own));
  await expect(write('ann', 'two')).rejects.toThrow('not a folder');
  expect(readdirSync(join(folder, 'elsewhere'))).toEqual([]);
});

test('a name that is not one of ours is not read', async () => {
  for (const name of ['../secret', 'a/b', '', `${'0'.repeat(32)}/../../secret`]) {
    await expect(files.read(name)).rejects.toThrow('not one of ours');
  }
});

test('sweeping removes what no row names, and nothing that is not ours', async () => {
  const [kept, lost] = [await write('ann', 'kept'), await write('ann', 'lost')];
  const [own = ''] = kept.split('/');
  writeFileSync(join(folder, 'stored', own, 'notes.txt'), 'an operator left this');
  await files.sweep(new Set([kept]));
  expect(existsSync(join(folder, 'stored', kept))).toBe(true);
  expect(existsSync(join(folder, 'stored', lost))).toBe(false);
  expect(existsSync(join(folder, 'stored', own, 'notes.txt'))).toBe(true);
});

test('on a full disk a file is refused like every other write, leaves nothing behind, and fits when there is room', async (context) => {
  using disk = smallDisk(join(folder, 'small'), { megabytes: 1 });
  if (disk.why !== '') context.skip(disk.why);
  const root = join(folder, 'small', 'stored');
  const small = new FileStorage({ root });
  const large = new Uint8Array(700 * 1024);
  const put = (unique: string) => small.write('ann', { name: 'n', unique: unique.repeat(32), bytes: large });
  const first = await put('a');
  expect(failureOf(await put('b').catch((error: unknown) => error))).toMatchObject({ code: 'store_unavailable' });
  expect(readdirSync(join(root, first.split('/')[0] ?? ''))).toHaveLength(1);
  await small.remove(first);
  expect(await small.read(await put('c'))).toHaveLength(large.length);
});

test('a changed file is reported as damaged; its neighbour is read', async () => {
  const [bad, sound] = [await write('ann', 'bad'), await write('ann', 'sound')];
  writeFileSync(join(folder, 'stored', bad), '{"a":2}');
  await expect(files.read(bad)).rejects.toMatchObject({ code: 'store_damaged' });
  expect(await files.read(sound)).toEqual(Buffer.from(bytes));
  const gone = await write('ann', 'gone');
  await files.remove(gone);
  expect(await files.examine([bad, sound, gone])).toEqual({ bad: [bad, gone], withoutChecksum: 0 });
});

test('a file that was written before names had checksums is read, and counted as unchecked', async () => {
  const file = await write('ann', 'old');
  const old = file.slice(0, -9);
  renameSync(join(folder, 'stored', file), join(folder, 'stored', old));
  expect(await files.read(old)).toEqual(Buffer.from(bytes));
  expect(await files.examine([old])).toEqual({ bad: [], withoutChecksum: 1 });
  await files.sweep(new Set());
  await expect(files.read(old)).rejects.toMatchObject({ code: 'ENOENT' });
});

test('a file is synced before it has its name, and its folder after: a power cut leaves all of it or nothing', async () => {
  const handle = await open(folder, 'r');
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const { sync } = prototype;
  const synced: [string, boolean][] = [];
  const isNamed = () => readdirSync(folder, { recursive: true }).some((name) => /-[0-9a-f]{8}$/.test(String(name)));
  const watched = vi.spyOn(prototype, 'sync').mockImplementation(function (this: FileHandle) {
    synced.push([basename(readlinkSync(`/proc/self/fd/${this.fd}`)), isNamed()]);
    return sync.call(this);
  });
  try {
    const [ownFolder = '', name = ''] = (await write('ann', 'kept')).split('/');
    expect(synced).toEqual([
      [`${name}.part`, false],
      [ownFolder, true],
    ]);
  } finally {
    watched.mockRestore();
  }
});
