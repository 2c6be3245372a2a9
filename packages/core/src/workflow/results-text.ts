import type { Json } from '@dragoman/protocols';

/** The results of an execution as the JSON text of one object. */
export function resultsText(results: ReadonlyMap<string, Json>): Uint8Array {
  const members = [...results].map(([id, value]) => `${JSON.stringify(id)}:${JSON.stringify(value)}`);
  return new TextEncoder().encode(`{${members.join(',')}}`);
}
