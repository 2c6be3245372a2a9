import type { Database } from '../sqlite-engine.ts';
import type { CounterRow } from '../store.ts';

export function counterReads(database: Database) {
  const load = database.prepare(
    'SELECT principal, name, slice, count FROM counters WHERE slice >= ? ORDER BY slice, principal, name',
  );

  return {
    loadCounters: (since: number): CounterRow[] => load.all(since) as CounterRow[],
  };
}

export function counterWrites(database: Database) {
  const put = database.prepare(`
    INSERT INTO counters (principal, name, slice, count) VALUES (?, ?, ?, ?)
    ON CONFLICT (principal, name, slice) DO UPDATE SET count = counters.count + excluded.count`);
  const forget = database.prepare('DELETE FROM counters WHERE slice < ?');

  return {
    addCounters(rows: readonly CounterRow[], before: number): void {
      for (const row of rows) put.run(row.principal, row.name, row.slice, row.count);
      forget.run(before);
    },
  };
}
