import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { DEFAULT_DATA } from '../environment.ts';

/**
 * Keeps the data folder, which has keys and messages, out of the Git repository it may be in. An existing `.gitignore`
 * is not changed, and none is added to a folder elsewhere that already has files, which may be the operator's own.
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
    // The file exists, or the folder cannot be used, which opening the store reports.
  }
}
