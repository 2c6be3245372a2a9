import { accessSync, constants, existsSync, mkdtempSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { FileStorage, openSqliteStore, refuseMissing } from '@dragoman/core';
import { PROGRAM } from '../command.ts';
import { folderHolder } from '../serve/folder-holder.ts';
import { broken, type DoctorFinding, sound } from './finding.ts';

/** Checks that the data folder is writable and undamaged, and not in use by another server. Creates nothing. */
export async function checkDataFolder(
  folder: string,
  { serverRuns, check = 'data', inPostgres = false }: DataFolderOptions,
): Promise<DoctorFinding> {
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
  if (inPostgres) return sound(check, `${folder} can be written; it has the keys and files of this server`);
  return checkStore(folder, { serverRuns, check });
}

interface DataFolderOptions {
  readonly serverRuns: boolean;
  readonly check?: string;
  /** Whether the store is in PostgreSQL, so that the folder has only keys and files. */
  readonly inPostgres?: boolean;
}

async function checkStore(
  folder: string,
  { serverRuns, check }: { serverRuns: boolean; check: string },
): Promise<DoctorFinding> {
  try {
    refuseMissing(folder);
    if (!existsSync(join(folder, 'dragoman.db')))
      return sound(check, `${folder} has no store yet; the first start creates it`);
    await using store = await openSqliteStore({ folder, ballastBytes: 0, onFatal: () => {} });
    return await examineStore(store, { folder, check });
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    if (code !== 'store_locked')
      return broken(check, message, FIXES[code ?? ''] ?? `${PROGRAM} serve --data OTHER_FOLDER`);
    const holder = await folderHolder(folder);
    if (holder?.url !== undefined) return sound(check, `${folder} is in use by process ${holder.pid} at ${holder.url}`);
    if (serverRuns) return sound(check, `${folder} is in use by the server`);
    const who = holder === undefined ? 'another process' : `process ${holder.pid}`;
    return broken(check, `${folder} is in use by ${who}`, 'stop it, or find its URL in its output');
  }
}

/** Examines the store. Reports only the files that were read. */
async function examineStore(
  store: Awaited<ReturnType<typeof openSqliteStore>>,
  { folder, check }: { folder: string; check: string },
): Promise<DoctorFinding> {
  const [damages, integrity, names] = await Promise.all([store.damages(), store.integrity(), store.storedData.files()]);
  const files = await new FileStorage({ root: join(folder, 'stored') }).examine(names);
  const problems = [
    ...damages.map(({ kind, owner, name }) => `${kind} ${name}${owner === '' ? '' : ` of ${owner}`} is damaged`),
    ...integrity.problems,
    ...files.bad.map((file) => `the stored file ${file} is damaged or missing`),
  ];
  if (problems.length > 0) {
    const more = problems.length > MOST_SHOWN ? `; and ${problems.length - MOST_SHOWN} more` : '';
    return broken(check, `${folder}: ${problems.slice(0, MOST_SHOWN).join('; ')}${more}`, DAMAGED);
  }
  const read = integrity.isComplete
    ? 'the database'
    : `open requests and executions, keys, agents and APIs (not the rest of ${Math.round(integrity.bytes / 1_048_576)} MiB)`;
  const unchecked = files.withoutChecksum === 0 ? '' : ` (${files.withoutChecksum} without a checksum)`;
  return sound(check, `${folder}: checked ${read} and ${names.length} stored files${unchecked}: no damage; not in use`);
}

function checkPlaceFor(folder: string): DoctorFinding {
  let above = dirname(folder);
  while (!existsSync(above) && dirname(above) !== above) above = dirname(above);
  if (canCreateIn(above)) return sound('data', `${folder} does not exist yet; the first start creates it`);
  return broken(
    'data',
    `${folder} cannot be created: this user cannot create a folder in ${above}`,
    'choose another with --data',
  );
}

/** Creates a folder to find out, because permissions are not always decisive: nobody can create a folder in /proc. */
function canCreateIn(folder: string): boolean {
  try {
    rmdirSync(mkdtempSync(join(folder, '.dragoman-')));
    return true;
  } catch {
    return false;
  }
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
  store_damaged:
    'put a backup of dragoman.db in its place, or move it away and start with --accept-loss to begin with an empty store',
  store_lost: 'restore a backup (docs/how-to/back-up-and-restore.md), or start once with --accept-loss',
  store_foreign: `choose another folder: ${PROGRAM} serve --data OTHER_FOLDER`,
  store_newer: 'upgrade Dragoman to the version that wrote it: git pull && npm ci',
  driver_missing: 'npm ci --include=optional',
};

const MOST_SHOWN = 5;
const DAMAGED =
  'restore a backup, or create damaged keys, agents and APIs again; damaged requests end with store_damaged';
