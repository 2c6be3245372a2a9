import type { Json } from '@dragoman/protocols';

/** The results of an execution as the JSON text of one object, on one line. */
export function resultsText(results: ReadonlyMap<string, Json>): string {
  let text = '';
  for (const [id, value] of results) {
    text += `${text === '' ? '{' : ','}${JSON.stringify(id)}:${WRITTEN.get(value as object) ?? JSON.stringify(value)}`;
  }
  return text === '' ? '{}' : `${text}}`;
}

/** Tells how a value was written where it came from: then it need not be written again, as long as nobody changes it. */
export function wasWritten(value: Json, text: string): void {
  if (typeof value !== 'object' || value === null || text.length > LONGEST_KEPT) return;
  // A line break between two tokens is JSON as well, and would end the line.
  if (!text.includes('\n') && !text.includes('\r')) WRITTEN.set(value, text);
}

const WRITTEN = new WeakMap<object, string>();
const LONGEST_KEPT = 65_536;
