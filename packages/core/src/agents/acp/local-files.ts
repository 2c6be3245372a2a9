import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { type JsonObject, show } from '@dragoman/protocols';
import { AcpProgramError } from './acp-line.ts';
import { insideFolder } from './inside-folder.ts';

/** The text files below one folder, for an agent that reads and writes through its client. Links out of the folder are refused. */
export class LocalFiles {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** `fs/read_text_file`: the whole file, or `limit` lines starting at `line`, counted from 1. */
  async read({ path, line, limit }: JsonObject): Promise<JsonObject> {
    const real = this.#path(path);
    const file = await opened(real, constants.O_RDONLY);
    try {
      const { size } = await textFile(file, real);
      if (size > MAX_BYTES) refused(`The file exceeds ${MAX_BYTES} bytes: ${show(real)}.`);
      const content = await file.readFile('utf8');
      if (line === undefined && limit === undefined) return { content };
      const first = isCount(line) && line > 0 ? line - 1 : 0;
      const lines = content.split(/(?<=\n)/);
      return { content: lines.slice(first, isCount(limit) ? first + limit : undefined).join('') };
    } finally {
      await file.close();
    }
  }

  /** `fs/write_text_file`: creates the file if needed; its folder must exist. */
  async write({ path, content }: JsonObject): Promise<JsonObject> {
    if (typeof content !== 'string') refused(`content must be a string; got ${show(content)}.`);
    const { O_WRONLY, O_CREAT } = constants;
    const real = this.#path(path, { isNew: true });
    const file = await opened(real, O_WRONLY | O_CREAT);
    try {
      await textFile(file, real);
      await file.truncate();
      await file.writeFile(content);
      // An object, never null: programs fail to read a null result.
      return {};
    } finally {
      await file.close();
    }
  }

  #path(path: unknown, { isNew = false } = {}): string {
    if (typeof path !== 'string' || !isAbsolute(path))
      return refused(`path must be an absolute path; got ${show(path)}.`);
    const known = insideFolder(path, [this.#folder]);
    if (known !== undefined) return known;
    const parent = isNew ? insideFolder(dirname(path), [this.#folder]) : undefined;
    if (parent !== undefined) return join(parent, basename(path));
    return refused(`File not found below ${this.#folder}: ${show(path)}.`, NOT_FOUND);
  }
}

/** The last part of the path must not be a link: the path was resolved, so a link there is newer than that. */
async function opened(path: string, flags: number): Promise<FileHandle> {
  try {
    return await open(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o644);
  } catch (error) {
    return refused(`The file cannot be opened (${(error as NodeJS.ErrnoException).code}): ${show(path)}.`);
  }
}

async function textFile(file: FileHandle, path: string) {
  const facts = await file.stat();
  return facts.isFile() ? facts : refused(`This is not a file: ${show(path)}.`);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function refused(message: string, code = INVALID_PARAMS): never {
  throw new AcpProgramError(code, message, null);
}

const MAX_BYTES = 4 * 1024 * 1024;
const INVALID_PARAMS = -32602;
const NOT_FOUND = -32002;
