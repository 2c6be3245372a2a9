import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { DEFAULT_DATA } from '../environment.ts';

/**
 * Keeps the data folder out of the repository it may be in: it holds keys and messages. A `.gitignore` that is there stays
 * as it is, and a folder elsewhere that holds files already: they may be the operator's own.
 */
export function ignoreInGit({ data, folder }: { readonly data: string; readonly folder: string }): void {
  const usual = join(folder, DEFAULT_DATA);
  const ignored = relative(usual, data).startsWith('..') ? data : usual;
  try {
    mkdirSync(ignored, { recursive: true, mode: 0o700 });
    if (ignored === usual || readdirSync(ignored).length === 0) {
      writeFileSync(join(ignored, '.gitignore'), '*\n', { flag: 'wx' });
    }
  } catch {
    // It is there already, or the folder cannot be used: opening the store reports that.
  }
}
