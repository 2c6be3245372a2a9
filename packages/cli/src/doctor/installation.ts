import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isPostgresUrl, openSqliteStore, postgresVersion, shownPostgresUrl } from '@dragoman/core';
import { broken, type DoctorFinding, sound } from './finding.ts';

/** Checks that this version of Node is supported. */
export function checkNode(version: string = process.versions.node): DoctorFinding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isNewEnough = major > OLDEST.major || (major === OLDEST.major && minor >= OLDEST.minor);
  if (isNewEnough) return sound('node', `Node ${version}`);
  const wanted = `${OLDEST.major}.${OLDEST.minor}`;
  return broken('node', `Node ${version} is too old; ${wanted} or newer is needed`, 'nvm install 22');
}

/** Checks that every package is built, for a start with `npx dragoman`. */
export function checkBuild(
  isThere: (part: string) => boolean = isBuilt,
  runsFromSource: boolean = import.meta.url.endsWith('.ts'),
): DoctorFinding {
  if (runsFromSource) return sound('build', 'not needed: this runs from source');
  const missing = PARTS.filter((part) => !isThere(part));
  if (missing.length === 0) return sound('build', 'complete');
  return broken('build', `not built: ${missing.join(', ')}`, 'npm run build');
}

function isBuilt(part: string): boolean {
  try {
    createRequire(import.meta.url).resolve(part);
    return true;
  } catch {
    return false;
  }
}

/** Checks that the configured store can be used. */
export async function checkStore(store = 'sqlite'): Promise<DoctorFinding> {
  if (store === 'memory') return sound('store', 'in memory, gone when the server stops');
  return isPostgresUrl(store) ? checkPostgres(store) : checkDriver();
}

/** Checks that PostgreSQL answers, with the version and settings that the store needs. Creates nothing in it. */
async function checkPostgres(url: string): Promise<DoctorFinding> {
  try {
    return sound('store', `PostgreSQL ${await postgresVersion(url)} at ${shownPostgresUrl(url)}`);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return broken('store', message, 'start PostgreSQL, or correct the URL in store or DRAGOMAN_STORE');
  }
}

/** Checks that the SQLite driver loads and can write, in a temporary folder. */
async function checkDriver(): Promise<DoctorFinding> {
  const folder = await mkdtemp(join(tmpdir(), 'dragoman-doctor-'));
  try {
    const store = await openSqliteStore({ folder, ballastBytes: 0, onFatal: () => {} });
    const { driver } = await store.stats();
    await store[Symbol.asyncDispose]();
    return sound('store', `SQLite by ${driver}`);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return broken('store', message, 'npm ci --include=optional');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const OLDEST = { major: 20, minor: 19 };
const PARTS = ['@dragoman/protocols', '@dragoman/core', '@dragoman/server', '@dragoman/client'];
