import type { Database } from './sqlite-engine.ts';

/**
 * Reads every page and compares each index with its table. Of a large database, it checks only the tables with
 * permissions and open work.
 */
export function integrityOf(database: Database): Integrity {
  const { bytes } = database
    .prepare('SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size')
    .get() as { bytes: number };
  const isComplete = bytes <= CHECKED_BYTES;
  const checks = isComplete ? ['integrity_check'] : SMALL_TABLES.map((table) => `integrity_check('${table}')`);
  const verdicts = checks.flatMap((check) =>
    database
      .prepare(`PRAGMA ${check}`)
      .all()
      .flatMap((row) => Object.values(Object(row))),
  );
  return { bytes, isComplete, problems: verdicts.map(String).filter((verdict) => verdict !== 'ok') };
}

export interface Integrity {
  readonly bytes: number;
  /** False when only the small tables were checked. */
  readonly isComplete: boolean;
  readonly problems: readonly string[];
}

const SMALL_TABLES = [
  'keys',
  'agents',
  'apis',
  'registrations',
  'credentials',
  'open_requests',
  'open_executions',
  'commits',
  'damages',
];

/** A database up to this size is checked at every start; in a larger one damage shows when it is read. */
export const CHECKED_BYTES = 67_108_864;
