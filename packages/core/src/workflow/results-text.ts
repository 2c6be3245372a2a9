import type { Json } from '@dragoman/protocols';

/** The results of an execution as the JSON text of one object, on one line. `written`: those that are text already, by id. */
export function resultsText(results: ReadonlyMap<string, Json>, written: ReadonlyMap<string, string>): string {
  let text = '';
  for (const [id, value] of results) {
    text += `${text === '' ? '{' : ','}${JSON.stringify(id)}:${written.get(id) ?? JSON.stringify(value)}`;
  }
  return text === '' ? '{}' : `${text}}`;
}
