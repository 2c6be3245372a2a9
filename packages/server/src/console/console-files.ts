import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

/** One built file of the console. */
export interface ConsoleFile {
  readonly type: string;
  /** Compressed, if the caller accepts gzip. */
  readonly bytes: Uint8Array;
}

/**
 * The built files of the console, which `npm run build` puts beside the server's code. They do not change while it
 * runs.
 */
export class ConsoleFiles {
  readonly #folder: URL;
  /** The names of the files of the build. Only these become paths. */
  readonly #names: ReadonlySet<string>;
  readonly #compressed = new Map<string, Promise<Uint8Array>>();

  private constructor(folder: URL, names: ReadonlySet<string>) {
    this.#folder = folder;
    this.#names = names;
  }

  /** `undefined` where the console is not built, as when the server runs from source. */
  static open(folder: URL = new URL('./web/', import.meta.url)): ConsoleFiles | undefined {
    try {
      const names: unknown = JSON.parse(readFileSync(fileURLToPath(new URL('files.json', folder)), 'utf8'));
      return Array.isArray(names) ? new ConsoleFiles(folder, new Set(names.map(String))) : undefined;
    } catch {
      return undefined;
    }
  }

  async read(name: string, { isGzip }: { readonly isGzip: boolean }): Promise<ConsoleFile | undefined> {
    const type = TYPES[name.slice(name.lastIndexOf('.') + 1)];
    if (type === undefined || !this.#names.has(name)) return undefined;
    return { type, bytes: isGzip ? await this.#gzipped(name) : await this.#plain(name) };
  }

  #plain(name: string): Promise<Uint8Array> {
    return readFile(fileURLToPath(new URL(name, this.#folder)));
  }

  #gzipped(name: string): Promise<Uint8Array> {
    let bytes = this.#compressed.get(name);
    if (bytes === undefined) {
      bytes = this.#plain(name).then((plain) => compress(plain, { level: 9 }));
      this.#compressed.set(name, bytes);
    }
    return bytes;
  }
}

const compress = promisify<Uint8Array, { level: number }, Buffer>(gzip);

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};
