import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isObject, type JsonObject, parseJson } from '@dragoman/protocols';
import type { Context } from './context.ts';
import { fail } from './trouble.ts';

/** The bytes of a file, or of stdin for `-`. */
export async function readInput(file: string, { terminal, folder }: Context): Promise<Uint8Array> {
  if (file === '-') return terminal.readStdin();
  try {
    return readFileSync(resolve(folder, file));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = { ENOENT: 'file not found', EISDIR: 'it is a folder' }[code ?? ''] ?? `it cannot be read (${code})`;
    fail({ code: 'unreadable', message: `${file}: ${why}`, fixes: ['check the path, or give - to read from stdin'] });
  }
}

/** The text of a file or stdin, without the line break at its end. */
export async function readText(file: string, context: Context): Promise<string> {
  const bytes = await readInput(file, context);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/\r?\n$/, '');
  } catch {
    fail({ code: 'not_utf8', message: `${file === '-' ? 'stdin' : file} is not UTF-8 text` });
  }
}

/** The JSON object of an option, or from stdin for `-`. An omitted option is an empty object. */
export async function objectOption(option: string, given: string | undefined, context: Context): Promise<JsonObject> {
  return objectIn(given === '-' ? await readText('-', context) : (given ?? '{}'), option);
}

/** The JSON object in the text of an option. */
export function objectIn(text: string, option: string): JsonObject {
  const json = parseJson(text);
  if (json.ok && isObject(json.value)) return json.value;
  const issues = json.ok ? [] : json.issues;
  fail({ code: 'usage', message: `${option} must be a JSON object, such as {"a":1}`, issues, exitCode: 2 });
}
