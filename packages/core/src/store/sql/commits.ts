import type { Database } from '../sqlite-engine.ts';

/** How many transactions were committed over all the life of the database. */
export function countOf(database: Database): number {
  const { count } = database.prepare('SELECT count FROM commits').get() as { count: number };
  return count;
}

/** The number of this opening of the store. It is higher than that of any earlier opening that wrote something. */
export function epochOf(database: Database): number {
  return countOf(database) + 1;
}
