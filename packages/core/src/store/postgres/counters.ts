import type { CounterRow, CounterStore } from '../store.ts';
import { bigints, texts } from './arrays.ts';
import type { PostgresDatabase } from './database.ts';

export function counterStore(database: PostgresDatabase): CounterStore {
  return {
    load: (since) => database.read.all<CounterRow>(LOAD, since),
    add: async (rows, forget) => {
      for (const { count } of rows)
        if (!Number.isSafeInteger(count)) throw new Error(`a count must be whole, not ${count}`);
      await database.write(async (queries) => {
        await queries.run(
          ADD,
          texts(rows.map(({ principal }) => principal)),
          texts(rows.map(({ name }) => name)),
          texts(rows.map(({ slice }) => String(slice))),
          bigints(rows.map(({ count }) => count)),
        );
        await queries.run('DELETE FROM counters WHERE slice < $1', forget);
      });
    },
  };
}

const LOAD = `
  SELECT principal, name, slice, count FROM counters WHERE slice >= $1 ORDER BY slice, principal, name`;
/** In one order everywhere, so that two of them never wait for each other. */
const ADD = `
  INSERT INTO counters (principal, name, slice, count)
  SELECT principal, name, slice::double precision, SUM(count) FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[])
    AS i (principal, name, slice, count)
  GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT (principal, name, slice) DO UPDATE SET count = counters.count + excluded.count`;
