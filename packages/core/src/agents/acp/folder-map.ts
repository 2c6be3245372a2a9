import { posix, win32 } from 'node:path';

/**
 * Maps paths in the folder of a session between the agent and the client that has the files. A path that leads out of the folder is
 * `undefined`. Only the client can resolve links.
 */
export class FolderMap {
  readonly #own: string;
  readonly #client: string;

  constructor({ own, client }: { readonly own: string; readonly client: string }) {
    this.#own = own;
    this.#client = client;
  }

  /** The client's path for a path of the agent. */
  atClient(path: string): string | undefined {
    const { join } = pathsOf(this.#client);
    const way = wayBelow(this.#client, path) ?? wayBelow(this.#own, path);
    return way === undefined ? undefined : join(this.#client, ...way);
  }
}

/** The steps from a folder to a path below it. */
function wayBelow(folder: string, path: string): readonly string[] | undefined {
  const { relative, isAbsolute, sep } = pathsOf(folder);
  if (!isAbsolute(path)) return undefined;
  const way = relative(folder, path);
  if (way === '') return [];
  return isAbsolute(way) || way === '..' || way.startsWith(`..${sep}`) ? undefined : way.split(sep);
}

function pathsOf(folder: string): typeof posix {
  return folder.startsWith('/') ? posix : win32;
}
