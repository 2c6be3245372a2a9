import type { FamilyName, FamilyStore } from '../families.ts';
import type { PostgresDatabase, Queries } from './database.ts';

/**
 * Counts the changes of each family, in the same transaction as the change. The row of the family is locked until the
 * commit, so that a version is never visible before its change.
 */
export class PostgresFamilies implements FamilyStore {
  readonly #database: PostgresDatabase;
  readonly #seen = new Map<FamilyName, Seen>();

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  /** Runs a transaction that changes data of which other processes have a copy. */
  async change<Result>(name: FamilyName, work: (queries: Queries) => Promise<Result>): Promise<Result> {
    let version = 0;
    const result = await this.#database.write(async (queries) => {
      const result = await work(queries);
      version = (await queries.get<{ version: number }>(CHANGED, name))?.version ?? 0;
      return result;
    });
    const seen = this.#seenOf(name);
    if (version > seen.version) seen.own.add(version);
    return result;
  }

  async versions(): Promise<ReadonlyMap<FamilyName, number>> {
    const rows = await this.#database.read.all<{ name: FamilyName; version: number }>(
      'SELECT name, version FROM families',
    );
    return new Map(rows.map(({ name, version }) => [name, this.#othersLast(name, version)]));
  }

  /**
   * Returns the version of the last change by another process. A change of this process that is not in `own` yet counts
   * as another's, which only causes an extra read.
   */
  #othersLast(name: FamilyName, version: number): number {
    const seen = this.#seenOf(name);
    // A query that started later was answered first.
    if (version <= seen.version) return seen.others;
    const own = [...seen.own].filter((one) => one <= version);
    if (own.length < version - seen.version) seen.others = version;
    for (const one of own) seen.own.delete(one);
    seen.version = version;
    return seen.others;
  }

  #seenOf(name: FamilyName): Seen {
    let seen = this.#seen.get(name);
    if (seen === undefined) {
      seen = { version: 0, others: 0, own: new Set() };
      this.#seen.set(name, seen);
    }
    return seen;
  }
}

interface Seen {
  version: number;
  others: number;
  /** The versions of changes by this process that `versions` has not seen yet. */
  readonly own: Set<number>;
}

const CHANGED = `
  INSERT INTO families (name, version) VALUES ($1, 1)
  ON CONFLICT (name) DO UPDATE SET version = families.version + 1 RETURNING version`;
