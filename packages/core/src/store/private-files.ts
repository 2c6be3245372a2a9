import { chmodSync, closeSync, mkdirSync, openSync, readdirSync, statSync } from 'node:fs';

/** Makes the folder, for its owner only. One that was there with things of others in it keeps its mode: returns false then. */
export function createPrivateFolder(folder: string, ownFile: string): boolean {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if ((statSync(folder).mode & 0o077) === 0) return true;
  const names = readdirSync(folder);
  if (names.length > 0 && !names.includes(ownFile)) return process.platform === 'win32';
  chmodSync(folder, 0o700);
  return true;
}

/**
 * Makes an empty file, for its owner only, unless there is one. It never opens one that is there: closing it again would
 * drop the locks that SQLite has on it in this process.
 */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}
