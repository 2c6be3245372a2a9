import type { Json } from '@dragoman/protocols';

/** The results of an execution as the JSON text of one object, on one line. `written`: those that are text already, by id. */
export function resultsText(results: ReadonlyMap<string, Json>, written: ReadonlyMap<string, string>): string {
  const members = [...results].map(
    ([id, value]) => `${JSON.stringify(id)}:${written.get(id) ?? JSON.stringify(value)}`,
  );
  return `{${members.join(',')}}`;
}

/** Longer results are serialized again instead of being kept twice. */
export const LONGEST_WRITTEN = 65_536;
