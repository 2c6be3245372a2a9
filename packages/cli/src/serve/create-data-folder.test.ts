import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FakeSurroundings } from '../../test-support/fake-surroundings.ts';
import { temporaryFolder } from '../../test-support/temporary-folder.ts';
import { main } from '../main.ts';
import { createDataFolder } from './create-data-folder.ts';

test('the data folder is created with those above it, for its owner only', () => {
  const folder = join(temporaryFolder(), 'a', 'b');
  createDataFolder(folder);
  createDataFolder(folder);
  expect([folder, join(folder, '..')].map((one) => statSync(one).mode & 0o777)).toEqual([0o700, 0o700]);
});

test.each([
  [['serve', '--data', '/proc/nope'], 'the data folder /proc/nope cannot be created'],
  [['dev', '--data', '/proc/nope/deep'], 'the data folder /proc/nope/deep cannot be created'],
  [['wire', '--data', '/proc/1/nope'], 'the data folder /proc/1/nope cannot be created'],
  [['serve', '--data', 'file'], '/file is a file'],
  [['serve', '--data', 'file/data'], 'file/data is a file'],
])('%j is refused with the reason and the option to change', async (args, message) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'file'), '');
  const surroundings = new FakeSurroundings({ folder });
  expect(await main(args, surroundings)).toBe(1);
  expect(surroundings.notes).toContain(message);
  expect(surroundings.notes).toContain('--data FOLDER');
});

test.each(['serve', 'dev', 'wire', 'doctor', 'send'])(
  '%s refuses an empty --data, as from a variable that is not set',
  async (name) => {
    const surroundings = new FakeSurroundings();
    const text = name === 'send' ? ['hello'] : [];
    expect(await main([name, ...text, '--data', ''], surroundings)).toBe(2);
    expect(surroundings.notes).toContain('It must not be empty');
  },
);
