import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Context } from './context.ts';
import { fail } from './trouble.ts';

/** The bytes of a file, or of stdin for `-`. */
export async function readInput(file: string, { terminal, folder }: Context): Promise<Uint8Array> {
  if (file === '-') return terminal.readStdin();
  try {
    return readFileSync(resolve(folder, file));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why =
      { ENOENT: 'there is no such file', EISDIR: 'it is a folder' }[code ?? ''] ?? `it cannot be read (${code})`;
    fail({ code: 'unreadable', message: `${file}: ${why}`, fixes: ['check the path, or give - to read from stdin'] });
  }
}

/** The text of it, without the line end that shells and editors put last. */
export async function readText(file: string, context: Context): Promise<string> {
  const bytes = await readInput(file, context);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/\r?\n$/, '');
  } catch {
    fail({ code: 'not_utf8', message: `${file === '-' ? 'stdin' : file} is not UTF-8 text` });
  }
}
