import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { fail } from '../trouble.ts';

/**
 * Creates the data folder and its parents, or ends the command. Not with Node's recursive `mkdir`, which never returns
 * if a folder refuses new ones with ENOENT, as /proc does.
 */
export function createDataFolder(folder: string): void {
  try {
    create(folder);
  } catch (error) {
    const { code = '', message, path = folder } = error as NodeJS.ErrnoException;
    fail({
      code: 'data_folder',
      message: `the data folder ${folder} cannot be created: ${REASONS[code]?.(path) ?? message}`,
      fixes: ['choose a folder that this user can create: --data FOLDER'],
    });
  }
}

function create(folder: string): void {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return;
  if (dirname(folder) !== folder) create(dirname(folder));
  mkdirSync(folder, { mode: 0o700 });
}

const REASONS: Readonly<Record<string, (path: string) => string>> = {
  EEXIST: (path) => `${path} is a file`,
  ENOTDIR: (path) => `a part of ${path} is a file`,
  EACCES: (path) => `this user may not create ${path}`,
  EPERM: (path) => `this user may not create ${path}`,
  EROFS: (path) => `${path} would be on a read-only disk`,
  ENOENT: (path) => `the system does not allow ${path}`,
};
