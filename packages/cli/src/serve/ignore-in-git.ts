import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { DEFAULT_DATA } from '../environment.ts';

/**
 * Keeps `.dragoman` out of the repository it may be in: it holds keys and messages. Only where the data folder is in it;
 * a `.gitignore` that is there stays as it is.
 */
export function ignoreInGit({ data, folder }: { readonly data: string; readonly folder: string }): void {
  const usual = join(folder, DEFAULT_DATA);
  const path = relative(usual, data);
  if (path.startsWith('..')) return;
  mkdirSync(usual, { recursive: true, mode: 0o700 });
  try {
    writeFileSync(join(usual, '.gitignore'), '*\n', { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
