import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isObject, parseJson } from '@dragoman/protocols';
import { given } from './environment.ts';
import type { Surroundings } from './surroundings.ts';

/** The file that `dev` writes into its data folder, so that other commands find its server without options. */
export interface DevKeys {
  readonly url: string;
  /** The key of an agent, to talk to others. */
  readonly key: string;
  readonly admin_key: string;
  /** A port of this machine that the server may send callbacks to, beside the default one. */
  readonly callback_port?: number;
}

/** The keys in the file; `undefined` if it is missing or invalid. */
export function readDevKeys(data: string): DevKeys | undefined {
  let text: string;
  try {
    text = readFileSync(devKeysPath(data), 'utf8');
  } catch {
    return undefined;
  }
  const parsed = parseJson(text);
  if (!parsed.ok || !isObject(parsed.value)) return undefined;
  const { url, key, admin_key, callback_port } = parsed.value;
  if (typeof url !== 'string' || typeof key !== 'string' || typeof admin_key !== 'string') return undefined;
  return { url, key, admin_key, ...(typeof callback_port === 'number' && { callback_port }) };
}

/** Writes the file atomically, so that only its owner can read it. */
export function writeDevKeys(data: string, keys: DevKeys): void {
  const path = devKeysPath(data);
  const fresh = `${path}.${process.pid}`;
  mkdirSync(data, { recursive: true, mode: 0o700 });
  rmSync(fresh, { force: true });
  writeFileSync(fresh, `${JSON.stringify(keys, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(fresh, path);
}

/** Whether only the owner of the file can read it. */
export function areDevKeysPrivate(data: string): boolean {
  return process.platform === 'win32' || (statSync(devKeysPath(data)).mode & 0o077) === 0;
}

/** The data folder of `dev`: from the options, else from the environment, else the default. */
export function devDataIn(
  { data }: { readonly data?: string | undefined },
  { environment, folder }: Pick<Surroundings, 'environment' | 'folder'>,
): string {
  return resolve(folder, data ?? given(environment, 'DRAGOMAN_DATA') ?? DEFAULT_DEV_DATA);
}

export function devKeysPath(data: string): string {
  return join(data, 'dev-keys.json');
}

/** Inside the folder of `serve`, but separate from its data. */
export const DEFAULT_DEV_DATA = '.dragoman/dev';
