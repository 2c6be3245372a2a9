import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openSqliteStore } from '@dragoman/core';
import { PROGRAM } from '../command.ts';
import { folderHolder } from '../serve/folder-holder.ts';
import { broken, type Finding, sound } from './finding.ts';

/** Whether the data folder can be written, is whole, and is nobody else's. What does not exist yet is not made. */
export async function checkDataFolder(
  folder: string,
  { serverRuns, check = 'data' }: { serverRuns: boolean; check?: string },
): Promise<Finding> {
  if (!existsSync(folder)) return checkPlaceFor(folder);
  if (!statSync(folder).isDirectory()) {
    return broken(check, `${folder} is not a folder`, `choose another: ${PROGRAM} serve --data FOLDER`);
  }
  if (!isWritable(folder)) {
    return broken(
      check,
      `${folder} cannot be written by this user`,
      `chmod u+rwx ${folder}, or choose another with --data`,
    );
  }
  if (!existsSync(join(folder, 'dragoman.db')))
    return sound(check, `${folder} has no store yet; the first start makes it`);
  return checkStore(folder, { serverRuns, check });
}

async function checkStore(
  folder: string,
  { serverRuns, check }: { serverRuns: boolean; check: string },
): Promise<Finding> {
  try {
    const store = await openSqliteStore({ folder, ballastBytes: 0, onFatal: () => {} });
    await store[Symbol.asyncDispose]();
    return sound(check, `${folder} is whole and free to use`);
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    if (code !== 'store_locked')
      return broken(check, message, FIXES[code ?? ''] ?? `${PROGRAM} serve --data OTHER_FOLDER`);
    const holder = await folderHolder(folder);
    if (holder?.url !== undefined) return sound(check, `${folder} is in use by process ${holder.pid} at ${holder.url}`);
    if (serverRuns) return sound(check, `${folder} is in use by the server`);
    const who = holder === undefined ? 'another process' : `process ${holder.pid}`;
    return broken(check, `${folder} is in use by ${who}`, 'stop it, or find where it listens in its own output');
  }
}

function checkPlaceFor(folder: string): Finding {
  let above = dirname(folder);
  while (!existsSync(above) && dirname(above) !== above) above = dirname(above);
  if (isWritable(above)) return sound('data', `${folder} does not exist yet; the first start makes it`);
  return broken(
    'data',
    `${folder} cannot be made: ${above} cannot be written by this user`,
    'choose another with --data',
  );
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const FIXES: Readonly<Record<string, string>> = {
  store_damaged: 'put a backup of dragoman.db in its place, or move it away to begin with an empty store',
  store_foreign: `choose another folder: ${PROGRAM} serve --data OTHER_FOLDER`,
  store_newer: 'upgrade Dragoman to the version that wrote it: git pull && npm ci',
  driver_missing: 'npm ci --include=optional',
};
