import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../test-support/temporary-folder.ts';
import { ignoreInGit } from './ignore-in-git.ts';

test('.dragoman ignores itself in git, and a .gitignore that is there stays', () => {
  const folder = temporaryFolder();
  const ignored = join(folder, '.dragoman', '.gitignore');
  ignoreInGit({ data: join(folder, '.dragoman', 'dev'), folder });
  expect(readFileSync(ignored, 'utf8')).toBe('*\n');
  writeFileSync(join(folder, '.dragoman', 'vault.key'), 'secret');
  spawnSync('git', ['init', '-q'], { cwd: folder });
  expect(spawnSync('git', ['status', '--porcelain'], { cwd: folder, encoding: 'utf8' }).stdout).toBe('');
  writeFileSync(ignored, 'mine\n');
  ignoreInGit({ data: join(folder, '.dragoman'), folder });
  expect(readFileSync(ignored, 'utf8')).toBe('mine\n');
});

test('a new data folder elsewhere ignores itself in git', () => {
  const folder = temporaryFolder();
  const data = join(folder, 'data');
  ignoreInGit({ data, folder });
  expect(readFileSync(join(data, '.gitignore'), 'utf8')).toBe('*\n');
  expect(existsSync(join(folder, '.dragoman'))).toBe(false);
});

test('a folder elsewhere that holds files is left alone', () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'agent.mjs'), '');
  ignoreInGit({ data: folder, folder: join(folder, 'elsewhere') });
  expect(existsSync(join(folder, '.gitignore'))).toBe(false);
});
