import type { Json } from '@dragoman/protocols';

/** The value as JSON would represent it: dates become text, functions and undefined are dropped. */
export function plainJson(value: unknown): Json {
  if (isPlain(value, DEEPEST)) return value as Json;
  return JSON.parse(JSON.stringify(value) ?? 'null') as Json;
}

/** Whether the value has more than this many characters as JSON, without serializing it. */
export function isLargerThan(value: Json, limit: number): boolean {
  return remaining(value, limit) < 0;
}

/** Whether the value is plain JSON already, so that it need not be serialized to find out. */
function isPlain(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true;
    case 'number':
      return Number.isFinite(value);
    case 'object': {
      if (value === null) return true;
      if (depth === 0) return false;
      if (Array.isArray(value)) return value.every((item) => isPlain(item, depth - 1));
      if (Object.getPrototypeOf(value) !== Object.prototype || 'toJSON' in value) return false;
      for (const key in value) if (!isPlain((value as Record<string, unknown>)[key], depth - 1)) return false;
      return true;
    }
    default:
      return false;
  }
}

/** Characters that the value leaves of the limit. Stops below zero. */
function remaining(value: Json, limit: number): number {
  if (typeof value === 'string') return limit - value.length - 2;
  if (typeof value !== 'object' || value === null) return limit - 4;
  let left = limit - 2;
  if (Array.isArray(value)) {
    for (const item of value) {
      left = remaining(item, left) - 1;
      if (left < 0) return left;
    }
    return left;
  }
  for (const key in value) {
    left = remaining(value[key] as Json, left - key.length - 4);
    if (left < 0) return left;
  }
  return left;
}

/** The nesting depth that readers accept. */
const DEEPEST = 60;
