import type { JsonObject } from './json.ts';
import type { Issue } from './outcome.ts';
import { pointerTo, segmentsOf } from './pointer.ts';

/** Names that could reach an object's prototype: no field, id or path step may have one. */
export const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** Written out, because it runs for nearly every record. */
export function hasForbiddenKey(record: object): boolean {
  return (
    Object.hasOwn(record, '__proto__') || Object.hasOwn(record, 'constructor') || Object.hasOwn(record, 'prototype')
  );
}

/** One problem for each forbidden field of the record at `pointer`. */
export function forbiddenKeysIn(record: JsonObject, pointer: string): Issue[] {
  if (!hasForbiddenKey(record)) return [];
  return [...FORBIDDEN_KEYS]
    .filter((name) => Object.hasOwn(record, name))
    .map((name) => forbiddenKey(pointerTo(pointer, name)));
}

/** The problem with the forbidden field at `pointer`. */
export function forbiddenKey(pointer: string): Issue {
  const name = segmentsOf(pointer).at(-1) ?? '';
  const message = `${name} must not be the name of a field`;
  return { pointer, code: 'forbidden_key', message, suggestion: `remove ${name}` };
}
