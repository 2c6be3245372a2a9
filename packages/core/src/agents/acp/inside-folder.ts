import { realpathSync } from 'node:fs';
import { isAbsolute, relative } from 'node:path';

/** The real path, with links resolved, if it is one of these folders or below one. */
export function insideFolder(path: string, folders: readonly string[]): string | undefined {
  try {
    const real = realpathSync(path);
    return folders.some((folder) => isBelow(real, realpathSync(folder))) ? real : undefined;
  } catch {
    // The path does not exist.
    return undefined;
  }
}

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith('../') && !isAbsolute(way);
}
