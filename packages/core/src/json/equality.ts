import type { Json } from '@dragoman/protocols';

/** Whether a value can be compared with `===`. */
export function isScalar(value: Json): value is null | boolean | number | string {
  return typeof value !== 'object' || value === null;
}

/** Whether two values are equal at every depth. The order of members does not matter. */
export function deepEqual(one: Json, other: Json): boolean {
  if (one === other) return true;
  if (isScalar(one) || isScalar(other)) return false;
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false;
    for (let at = 0; at < one.length; at++) if (!deepEqual(one[at] as Json, other[at] as Json)) return false;
    return true;
  }
  if (Array.isArray(other)) return false;
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length) return false;
  for (const key of keys) {
    if (!Object.hasOwn(other, key) || !deepEqual(one[key] as Json, other[key] as Json)) return false;
  }
  return true;
}

/** A text that is the same for deep-equal values and differs for all others: usable as a key of a hash table. */
export function identity(value: Json): string {
  if (typeof value === 'string') return `"${value}`;
  if (isScalar(value)) return String(value === 0 ? 0 : value);
  return JSON.stringify(value, sorted);
}

/** For `JSON.stringify`: the members in sorted order. */
function sorted(_key: string, value: Json): Json {
  if (isScalar(value) || Array.isArray(value)) return value;
  const keys = Object.keys(value);
  if (isSorted(keys)) return value;
  return Object.fromEntries(keys.sort().map((key) => [key, value[key] as Json]));
}

function isSorted(keys: readonly string[]): boolean {
  for (let at = 1; at < keys.length; at++) if ((keys[at - 1] ?? '') > (keys[at] ?? '')) return false;
  return true;
}
