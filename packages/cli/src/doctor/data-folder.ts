import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openSqliteStore } from '@dragoman/core';
import { PROGRAM } from '../command.ts';
import { broken, type Finding, sound } from './finding.ts';

/** Whether the data folder can be written, is whole, and is nobody else's. What does not exist yet is not made. */
export async function checkDataFolder(folder: string, { serverRuns }: { serverRuns: boolean }): Promise<Finding> {
  if (!existsSync(folder)) return checkPlaceFor(folder);
  if (!statSync(folder).isDirectory()) {
    return broken('data', `${folder} is not a folder`, `choose another: ${PROGRAM} serve --data FOLDER`);
  }
  if (!isWritable(folder)) {
    return broken(
      'data',
      `${folder} cannot be written by this user`,
      `chmod u+rwx ${folder}, or choose another with --data`,
    );
  }
  if (!existsSync(join(folder, 'dragoman.db'))) return sound('data', `${folder}, empty so far`);
  return checkStore(folder, serverRuns);
}

async function checkStore(folder: string, serverRuns: boolean): Promise<Finding> {
  try {
    const store = await openSqliteStore({ folder, ballastBytes: 0, onFatal: () => {} });
    await store[Symbol.asyncDispose]();
    return sound('data', `${folder} is whole and free to use`);
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    if (code !== 'store_locked')
      return broken('data', message, FIXES[code ?? ''] ?? `${PROGRAM} serve --data OTHER_FOLDER`);
    if (serverRuns) return sound('data', `${folder} is in use by the server`);
    return broken('data', message, 'stop that process, or find where it listens in its own output');
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
