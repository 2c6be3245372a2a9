import { chmodSync, closeSync, mkdirSync, openSync, readdirSync, statSync } from 'node:fs';

/** Makes the folder, for its owner only. An existing folder with other files in it keeps its mode: returns false then. */
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
