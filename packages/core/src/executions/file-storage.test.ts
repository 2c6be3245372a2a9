import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
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
