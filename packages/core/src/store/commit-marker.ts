import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { countOf } from './sql/commits.ts';
import { DATABASE } from './sqlite-database.ts';
import type { Database } from './sqlite-engine.ts';
import { StoreError } from './store-error.ts';

/**
 * Writes the number of commits to a file beside the database, at most once a second. SQLite silently drops everything
 * after a damaged place in its log, so a database that contains fewer commits than its marker says has lost
 * acknowledged writes.
 */
export class CommitMarker {
  readonly #path: string;
  readonly #database: string;
  #onGone: (() => void) | undefined;
  readonly #elapsed: () => number;
  #written = -1;
  #writtenAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor({ folder, elapsed, onGone }: CommitMarkerOptions) {
    this.#database = join(folder, DATABASE);
    this.#onGone = onGone;
    this.#path = join(folder, MARKER);
    this.#elapsed = elapsed;
  }

  /** The number in the file; 0 without a readable file. */
  read(): number {
    try {
      const { commits } = JSON.parse(readFileSync(this.#path, 'utf8'));
      return Number.isSafeInteger(commits) ? commits : 0;
    } catch {
      // A power cut can leave it empty.
      return 0;
    }
  }

  /** Writes the number of commits, now or at most a second later. */
  note(count: () => number): void {
    if (this.#elapsed() - this.#writtenAt >= INTERVAL_MS) this.write(count());
    else
      this.#timer ??= setTimeout(() => {
        this.write(count());
      }, INTERVAL_MS).unref();
  }

  /** Ignores errors, such as a full disk: an older marker is safe too, and the next write comes soon. */
  write(count: number): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writtenAt = this.#elapsed();
    if (count === this.#written) return;
    if (this.#onGone !== undefined && !existsSync(this.#database)) {
      this.#onGone();
      this.#onGone = undefined;
    }
    try {
      const file = openSync(`${this.#path}.part`, 'w', 0o600);
      try {
        writeSync(file, `${JSON.stringify({ commits: count })}\n`);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      renameSync(`${this.#path}.part`, this.#path);
      this.#written = count;
    } catch {}
  }
}

export interface CommitMarkerOptions {
  readonly folder: string;
  readonly elapsed: () => number;
  /** Called once if the database file is missing at a write: what is committed to it then is lost. */
  readonly onGone?: () => void;
}

/** Refuses a database that lost commits: a key revoked or a nonce used in them would be valid again. */
export function refuseLoss(database: Database, { folder, marker }: { folder: string; marker: CommitMarker }): void {
  const [has, had] = [countOf(database), marker.read()];
  if (has >= had) return;
  throw new StoreError(
    'store_lost',
    `${join(folder, DATABASE)} has lost recorded history: it contains ${has} commits, and at least ${had} were made. ` +
      'Restore a backup. Continuing without the lost commits can make revoked keys and used nonces valid again.',
  );
}

/** Refuses to create an empty database in a folder whose other files belong to a database that is missing. */
export function refuseMissing(folder: string): void {
  if (sizeOf(join(folder, DATABASE)) > 0) return;
  const left = BESIDE.filter((name) => sizeOf(join(folder, name)) > 0);
  if (left.length === 0) return;
  throw new StoreError(
    'store_lost',
    `${join(folder, DATABASE)} is missing or empty, but ${left.join(', ')} ${left.length === 1 ? 'is' : 'are'} still there. ` +
      'Restore a backup of the database. A start with --accept-loss begins with an empty database.',
  );
}

/** The bytes of a file, or the number of entries of a folder. */
function sizeOf(path: string): number {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return 0;
  return found.isDirectory() ? readdirSync(path).length : found.size;
}

/** Its name begins as that of the database: removing `dragoman.db*` before a restore removes both. */
const MARKER = `${DATABASE}-commits`;
/** Files that only a server with a database leaves in its folder. */
const BESIDE = [`${DATABASE}-wal`, MARKER, 'vault.key', 'stored'];
const INTERVAL_MS = 1_000;
