import { hash } from 'node:crypto';
import { constants, type Dirent } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { StoreError } from '../store/store-error.ts';

/**
 * Stores data of agents in files below one folder. Paths contain only hashes of the agent's id and the key, so that no
 * name leaves the folder, is reserved, is too long or looks like another. No link is followed. A file's name ends with
 * the checksum of its bytes.
 */
export class FileStorage {
  readonly #root: string;

  constructor({ root }: { root: string }) {
    this.#root = root;
  }

  /**
   * Writes a new file and returns its name once all bytes are on the disk. Without room on the disk it throws
   * `store_unavailable`, like every other write, and leaves nothing behind.
   */
  async write(owner: string, file: NewFile): Promise<string> {
    try {
      return await this.#write(owner, file);
    } catch (error) {
      if (!NO_ROOM.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
      throw new StoreError('store_unavailable', FULL, { cause: error });
    }
  }

  async #write(owner: string, { name, unique, bytes }: NewFile): Promise<string> {
    const folder = await this.#folderOf(owner);
    const file = `${hash('sha256', name)}-${unique}-${checksumOf(bytes)}`;
    const temporary = join(folder, `${file}.part`);
    try {
      const handle = await open(temporary, CREATE, 0o600);
      try {
        await handle.writeFile(bytes);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(temporary, join(folder, file));
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    await syncFolder(folder);
    return `${folderName(owner)}/${file}`;
  }

  async read(file: string): Promise<Uint8Array> {
    const handle = await open(this.#pathOf(file), READ);
    try {
      const bytes = await handle.readFile();
      const checksum = CHECKSUM.exec(file)?.[1];
      if (checksum !== undefined && checksum !== checksumOf(bytes))
        throw new StoreError('store_damaged', `The stored file ${file} is damaged.`);
      return bytes;
    } finally {
      await handle.close();
    }
  }

  /** Reads these files and returns those that are damaged or missing. */
  async examine(files: readonly string[]): Promise<FilesExamined> {
    const bad: string[] = [];
    for (const file of files) await this.read(file).catch(() => bad.push(file));
    return { bad, withoutChecksum: files.filter((file) => !CHECKSUM.test(file)).length };
  }

  async remove(file: string): Promise<void> {
    await rm(this.#pathOf(file), { force: true });
  }

  /** Removes the files that a crash left behind, which no row names. */
  async sweep(used: ReadonlySet<string>): Promise<void> {
    for (const folder of await entriesOf(this.#root)) {
      if (!folder.isDirectory() || !FOLDER.test(folder.name)) continue;
      for (const entry of await entriesOf(join(this.#root, folder.name))) {
        const file = `${folder.name}/${entry.name}`;
        if (entry.isFile() && FILE.test(entry.name) && !used.has(file))
          await rm(join(this.#root, file), { force: true });
      }
    }
  }

  async #folderOf(owner: string): Promise<string> {
    const folder = join(this.#root, folderName(owner));
    await mkdir(folder, { recursive: true, mode: 0o700 });
    for (const path of [this.#root, folder]) {
      if (!(await lstat(path)).isDirectory()) throw new Error(`${path} is not a folder, but a link or a file`);
    }
    return folder;
  }

  #pathOf(file: string): string {
    const [folder = '', name = ''] = file.split('/');
    if (!FOLDER.test(folder) || !FILE.test(name)) throw new Error('the name of a stored file is not one of ours');
    return join(this.#root, folder, name);
  }
}

interface NewFile {
  readonly name: string;
  /** Distinguishes two versions of one name. */
  readonly unique: string;
  readonly bytes: Uint8Array;
}

export interface FilesExamined {
  readonly bad: readonly string[];
  /** Files that an earlier version wrote without a checksum: only whether they can be read is known. */
  readonly withoutChecksum: number;
}

function checksumOf(bytes: Uint8Array): string {
  return (bytes.length === 0 ? 0 : crc32(bytes)).toString(16).padStart(8, '0');
}

function folderName(owner: string): string {
  return hash('sha256', owner).slice(0, 32);
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Without it a new file may be missing after a power failure. */
async function syncFolder(folder: string): Promise<void> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(folder, constants.O_RDONLY);
    await handle.sync();
  } finally {
    await handle?.close();
  }
}

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const READ = constants.O_RDONLY | constants.O_NOFOLLOW;
const FOLDER = /^[0-9a-f]{32}$/;
const FILE = /^[0-9a-f]{64}-[0-9a-f]{32}(?:-[0-9a-f]{8})?(?:\.part)?$/;
const CHECKSUM = /-[0-9a-f]{32}-([0-9a-f]{8})$/;
/** Errors that disappear once there is disk space, or a file descriptor, again. */
const NO_ROOM: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE']);
const FULL = 'The disk is full or no file can be opened; nothing was recorded. The server will try again.';
