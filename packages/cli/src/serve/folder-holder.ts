import { readFileSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isObject, parseJson } from '@dragoman/protocols';
import { readDevKeys } from '../dev-keys.ts';
import { DEFAULT_HOST } from '../environment.ts';
import { healthAt, portsOf, urlOf } from './port-holder.ts';

/** The server that uses a data folder, as far as it can be determined. */
export interface FolderHolder {
  readonly pid: number;
  /** `undefined` when it is this machine. */
  readonly host: string | undefined;
  readonly since: Date;
  /** The URL of the server, if it answers there. */
  readonly url: string | undefined;
}

/** The process that opened the data folder; `undefined` if unknown. */
export async function folderHolder(data: string): Promise<FolderHolder | undefined> {
  const path = join(data, 'dragoman.owner');
  try {
    const parsed = parseJson(readFileSync(path, 'utf8'));
    if (!parsed.ok || !isObject(parsed.value)) return undefined;
    const { pid, host } = parsed.value;
    if (typeof pid !== 'number') return undefined;
    const since = statSync(path).mtime;
    if (host !== hostname()) return { pid, host: String(host), since, url: undefined };
    return { pid, host: undefined, since, url: await addressOf(pid, data) };
  } catch {
    return undefined;
  }
}

/** The URL of a server, which `dev` records. For any other server, each of its ports is tried. */
async function addressOf(pid: number, data: string): Promise<string | undefined> {
  const candidates = [readDevKeys(data)?.url, ...portsOf(pid).map((port) => urlOf({ host: DEFAULT_HOST, port }))];
  for (const url of candidates) {
    if (url !== undefined && (await healthAt(url))?.isDragoman === true) return url;
  }
  return undefined;
}
