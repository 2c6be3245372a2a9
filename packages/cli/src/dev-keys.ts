import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isObject, parseJson } from '@dragoman/protocols';
import { given } from './environment.ts';
import type { Surroundings } from './surroundings.ts';

/** The file that `dev` writes into its data folder, so that other commands find its server without options. */
export interface DevKeys {
  readonly url: string;
  /** For talking to agents. */
  readonly key: string;
  readonly admin_key: string;
  /** Of this machine: where the server may call back to, beside the usual one. */
  readonly callback_port?: number;
}

/** `undefined` if it is missing or cannot be read. */
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

/** Readable only by the owner; written atomically. */
export function writeDevKeys(data: string, keys: DevKeys): void {
  const path = devKeysPath(data);
  const fresh = `${path}.${process.pid}`;
  mkdirSync(data, { recursive: true, mode: 0o700 });
  rmSync(fresh, { force: true });
  writeFileSync(fresh, `${JSON.stringify(keys, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(fresh, path);
}

/** Whether only their owner can read them. */
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

/** Beside the data of `serve`, not among it. */
export const DEFAULT_DEV_DATA = '.dragoman/dev';
