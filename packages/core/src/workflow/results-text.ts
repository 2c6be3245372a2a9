import type { Json } from '@dragoman/protocols';

/**
 * The results of an execution as the JSON text of one object, on one line. `written` has the results whose JSON text is
 * already known.
 */
export function resultsText(results: ReadonlyMap<string, Json>, written: ReadonlyMap<string, string>): string {
  const members = [...results].map(
    ([id, value]) => `${JSON.stringify(id)}:${written.get(id) ?? JSON.stringify(value)}`,
  );
  return `{${members.join(',')}}`;
}

/** The text of longer results is not kept beside their value; they are serialized again. */
export const LONGEST_WRITTEN = 65_536;
