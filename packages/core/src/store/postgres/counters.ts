import type { CounterRow, CounterStore } from '../store.ts';
import { bigints, texts } from './arrays.ts';
import type { PostgresDatabase, Queries } from './database.ts';
import { lockOwner } from './owner-lock.ts';

export function counterStore(database: PostgresDatabase): CounterStore {
  return {
    load: (since) => database.read.all<CounterRow>(LOAD, since),
    add: async (rows, forget) => {
      await database.write(async (queries) => {
        await addRows(queries, rows);
        await queries.run('DELETE FROM counters WHERE slice < $1', forget);
      });
    },
    lease: (principal, spans, decide) =>
      database.write(async (queries) => {
        await lockOwner(queries, 'counters', principal);
        const values = [texts(spans.map(({ name }) => name)), texts(spans.map(({ since }) => String(since)))];
        const rows = await queries.all<CounterRow>(OF_PRINCIPAL, principal, ...values);
        const added = decide(rows);
        if (added.length === 0) return rows;
        await addRows(queries, added);
        return queries.all<CounterRow>(OF_PRINCIPAL, principal, ...values);
      }),
  };
}

async function addRows(queries: Queries, rows: readonly CounterRow[]): Promise<void> {
  for (const { count } of rows)
    if (!Number.isSafeInteger(count)) throw new Error(`a count must be whole, not ${count}`);
  await queries.run(
    ADD,
    texts(rows.map(({ principal }) => principal)),
    texts(rows.map(({ name }) => name)),
    texts(rows.map(({ slice }) => String(slice))),
    bigints(rows.map(({ count }) => count)),
  );
}

const LOAD = `
  SELECT principal, name, slice, count FROM counters WHERE slice >= $1 ORDER BY slice, principal, name`;
const OF_PRINCIPAL = `
  SELECT c.principal, c.name, c.slice, c.count FROM unnest($2::text[], $3::text[]) AS i (name, since)
  JOIN counters c ON c.principal = $1 AND c.name = i.name AND c.slice >= i.since::double precision`;
/** Locks the rows in a fixed order, so that two transactions never wait for each other. */
const ADD = `
  INSERT INTO counters (principal, name, slice, count)
  SELECT principal, name, slice::double precision, SUM(count) FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[])
    AS i (principal, name, slice, count)
  GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT (principal, name, slice) DO UPDATE SET count = counters.count + excluded.count`;
