import { requestWrites } from './sql/requests.ts';
import { openBeside } from './sqlite-database.ts';
import { type Database, engineOf, faultOf } from './sqlite-engine.ts';
import type { EngineModule } from './sqlite-messages.ts';

export interface NearCommitsOptions {
  /** Of the database, which the store's thread has open. */
  readonly path: string;
  readonly engine: EngineModule | undefined;
  /** Milliseconds that only ever grow. */
  readonly elapsed: () => number;
}

/**
 * Commits a lone write on the thread that asked for it. To wake the store's thread, and to be woken by it, takes nearly as long as
 * the fsync itself, and is worth it for those who would wait meanwhile: a lone write has nobody beside it. But a commit holds up
 * the thread that makes it, so this is for disks that have proven quick, and over with the first commit that was not.
 */
export class NearCommits {
  readonly #options: NearCommitsOptions;
  #opened: Opened | undefined;
  #state: 'unopened' | 'opening' | 'closed' = 'unopened';
  #quickInARow = 0;
  #commits = 0;
  #milliseconds = 0;

  constructor(options: NearCommitsOptions) {
    this.#options = options;
  }

  /** What the store's thread took for a lone write of this kind; `Infinity` when it refused it. */
  note(name: string, milliseconds: number): void {
    if (!NAMES.has(name)) return;
    this.#quickInARow = milliseconds > QUICK_MS ? 0 : this.#quickInARow + 1;
    if (this.#state === 'unopened' && this.#isQuick) void this.#open();
  }

  takes(name: string, values: readonly unknown[]): boolean {
    return this.#opened !== undefined && this.#isQuick && NAMES.has(name) && charactersIn(values) <= MOST_CHARACTERS;
  }

  /**
   * What the write answers, when it is on the disk. Nothing when it is not: then the store's thread should see to it, which knows
   * what to do about a full disk, and how to say what was wrong. Throws when the disk failed.
   */
  commit(name: string, values: readonly unknown[]): { readonly value: unknown } | undefined {
    const { database, writes, begin, commit, rollback } = this.#opened as Opened;
    const from = this.#options.elapsed();
    try {
      begin.run();
      const value = Reflect.apply(writes[name as keyof NearWrites], undefined, values);
      commit.run();
      const took = this.#options.elapsed() - from;
      if (took > QUICK_MS) this.#quickInARow = 0;
      this.#commits += 1;
      this.#milliseconds += took;
      return { value };
    } catch (error) {
      if (database.isTransaction) rollback.run();
      const fault = faultOf(error);
      if (fault === 'broken' || fault === 'damaged') throw error;
      if (fault !== 'operation') this.#quickInARow = 0;
      return undefined;
    }
  }

  /** What was committed since this was last asked, once it is worth to be told, or at once. */
  count(least: number): { readonly commits: number; readonly milliseconds: number } | undefined {
    if (this.#commits < least) return undefined;
    const counted = { commits: this.#commits, milliseconds: this.#milliseconds };
    this.#commits = 0;
    this.#milliseconds = 0;
    return counted;
  }

  close(): void {
    this.#opened?.database.close();
    this.#opened = undefined;
    this.#state = 'closed';
  }

  get #isQuick(): boolean {
    return this.#quickInARow >= PROOF;
  }

  async #open(): Promise<void> {
    this.#state = 'opening';
    const { engine, path } = this.#options;
    try {
      const loaded = await engineOf(engine);
      if (this.#state === 'opening') this.#opened = prepare(openBeside(loaded, path));
    } catch {
      // The store's thread goes on doing it all.
    }
  }
}

type NearWrites = Pick<
  ReturnType<typeof requestWrites>,
  'accept' | 'acceptAnswered' | 'acceptSigned' | 'start' | 'append'
>;

interface Opened extends ReturnType<typeof statementsOf> {
  // Kept referenced as long as its statements: they dangle without it.
  readonly database: Database;
  readonly writes: NearWrites;
}

function prepare(database: Database): Opened {
  return { database, writes: requestWrites(database), ...statementsOf(database) };
}

function statementsOf(database: Database) {
  return {
    begin: database.prepare('BEGIN IMMEDIATE'),
    commit: database.prepare('COMMIT'),
    rollback: database.prepare('ROLLBACK'),
  };
}

function charactersIn(value: unknown): number {
  if (typeof value === 'string') return value.length;
  return Array.isArray(value) ? value.reduce((sum, one) => sum + charactersIn(one), 0) : 0;
}

/** What a caller waits for, and is short. */
const NAMES: ReadonlySet<string> = new Set([
  'accept',
  'acceptAnswered',
  'acceptSigned',
  'start',
  'append',
] satisfies (keyof NearWrites)[]);
/** Far above what an fsync takes on a solid-state disk, and below what it takes on any other. */
const QUICK_MS = 3;
/** Lone writes in a row that must have been quick. */
const PROOF = 32;
/** What is longer takes longer to write than to hand over. */
const MOST_CHARACTERS = 65_536;
