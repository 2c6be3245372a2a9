import {
  type Database,
  loadEngine,
  type SqliteEngine,
  type Statement,
} from '../../packages/core/src/store/sqlite-engine.ts';

/**
 * SQLite in a process that dies at a commit. Values of `DRAGOMAN_CRASH`:
 *
 *   life-7            a commit that writes the text `crash:before-commit:life-7` is not reached; one that writes
 *                     `crash:after-commit:life-7` is the last thing that happens
 *   before-commit:3   the third commit from the start is not reached; `after-commit`, `before-checkpoint` and
 *                     `after-checkpoint` likewise
 */
export async function engine(wanted: string): Promise<SqliteEngine> {
  const real = await loadEngine();
  const fuse = new Fuse(wanted);
  return { name: real.name, open: (path) => watched(real.open(path), fuse) };
}

function watched(database: Database, fuse: Fuse): Database {
  return {
    get isTransaction() {
      return database.isTransaction;
    },
    exec: (sql) => database.exec(sql),
    close: () => database.close(),
    prepare(sql) {
      const statement = database.prepare(sql);
      const point = /^COMMIT/.test(sql) ? 'commit' : /^PRAGMA wal_checkpoint/.test(sql) ? 'checkpoint' : undefined;
      const around = <T>(values: readonly unknown[], act: () => T): T => {
        fuse.look(values);
        if (point !== undefined) fuse.reach(`before-${point}`);
        const result = act();
        if (point !== undefined) fuse.reach(`after-${point}`);
        return result;
      };
      return {
        run: (...values) => around(values, () => statement.run(...values)),
        get: (...values) => around(values, () => statement.get(...values)),
        all: (...values) => statement.all(...values),
        iterate: (...values) => statement.iterate(...values),
      } satisfies Statement;
    },
  };
}

/** Knows when it is time. */
class Fuse {
  readonly #life: string | undefined;
  readonly #counts = new Map<string, number>();
  #moment: string | undefined;
  #number = 1;

  constructor(wanted: string) {
    const [, moment, number] = /^((?:before|after)-(?:commit|checkpoint)):(\d+)$/.exec(wanted) ?? [];
    this.#moment = moment;
    this.#number = Number(number ?? 1);
    this.#life = wanted.startsWith('life-') ? wanted : undefined;
  }

  /** What is being written may say that this is the commit meant. */
  look(values: readonly unknown[]): void {
    if (this.#life === undefined || this.#moment !== undefined) return;
    for (const value of values) {
      if (typeof value !== 'string' || !value.includes(`-commit:${this.#life}"`)) continue;
      this.#moment = value.includes(`crash:before-commit:${this.#life}"`) ? 'before-commit' : 'after-commit';
      this.#number = (this.#counts.get(this.#moment) ?? 0) + 1;
    }
  }

  reach(point: string): void {
    const count = (this.#counts.get(point) ?? 0) + 1;
    this.#counts.set(point, count);
    if (point === this.#moment && count === this.#number) process.kill(process.pid, 'SIGKILL');
  }
}
