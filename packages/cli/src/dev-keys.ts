import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject, parseJson } from '@dragoman/protocols';

/** What `dev` leaves in its data folder, so that the other commands find its server without being told. */
export interface DevKeys {
  readonly url: string;
  /** For talking to agents. */
  readonly key: string;
  readonly admin_key: string;
}

/** `undefined` when there is none that can be read. */
export function readDevKeys(data: string): DevKeys | undefined {
  let text: string;
  try {
    text = readFileSync(devKeysPath(data), 'utf8');
  } catch {
    return undefined;
  }
  const parsed = parseJson(text);
  if (!parsed.ok || !isObject(parsed.value)) return undefined;
  const { url, key, admin_key } = parsed.value;
  if (typeof url !== 'string' || typeof key !== 'string' || typeof admin_key !== 'string') return undefined;
  return { url, key, admin_key };
}

/** For their owner's eyes only; in place at once or not at all. */
export function writeDevKeys(data: string, keys: DevKeys): void {
  const path = devKeysPath(data);
  const fresh = `${path}.${process.pid}`;
  mkdirSync(data, { recursive: true, mode: 0o700 });
  rmSync(fresh, { force: true });
  writeFileSync(fresh, `${JSON.stringify(keys, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(fresh, path);
}

/** Whether only their owner can read them, unless somebody widened the mode. */
export function areDevKeysPrivate(data: string): boolean {
  return process.platform === 'win32' || (statSync(devKeysPath(data)).mode & 0o077) === 0;
}

export function devKeysPath(data: string): string {
  return join(data, 'dev-keys.json');
}

/** Beside the data of `serve`, not among it. */
export const DEFAULT_DEV_DATA = '.dragoman/dev';
