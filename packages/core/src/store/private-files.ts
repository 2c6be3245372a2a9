import { chmodSync, closeSync, mkdirSync, openSync, readdirSync, statSync } from 'node:fs';

/**
 * Creates the folder for its owner only. An existing folder that has files but not `ownFile` keeps its mode; returns
 * false if others can read it then.
 */
export function createPrivateFolder(folder: string, ownFile: string): boolean {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if ((statSync(folder).mode & 0o077) === 0) return true;
  const names = readdirSync(folder);
  if (names.length > 0 && !names.includes(ownFile)) return process.platform === 'win32';
  chmodSync(folder, 0o700);
  return true;
}

/**
 * Creates an empty file, for its owner only, unless it exists. It never opens an existing one: closing it again would
 * drop the locks that SQLite has on it in this process.
 */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}
