import canonicalize from 'canonicalize';
import type { Json } from './json.ts';

/**
 * The canonical text of a value by RFC 8785, for signatures and comparisons: keys in order of their UTF-16 units,
 * numbers as ECMAScript writes them, no white space.
 *
 * It throws on a lone surrogate or a number that is not finite. `parseJson` accepts neither.
 *
 * `JSON.stringify` writes numbers and strings as the RFC requires, so only the order of the keys is added. The library
 * handles unusual values.
 */
export function canonicalJson(value: Json): string {
  const ordered = inOrder(value);
  const text = ordered === UNUSUAL ? undefined : JSON.stringify(ordered);
  // A lone surrogate is written as such an escape; the library tells it from an escaped backslash before `ud`.
  return text === undefined || text.includes('\\ud') ? byTheLibrary(value) : text;
}

function byTheLibrary(value: Json): string {
  const text = canonicalize(value);
  if (text === undefined) throw new Error('only a JSON value has a canonical form');
  return text;
}

/** The value with the keys of every object in order; the value itself if they already are. */
function inOrder(value: Json): Json | typeof UNUSUAL {
  if (typeof value === 'number') return Number.isFinite(value) ? value : UNUSUAL;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return itemsInOrder(value);
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return UNUSUAL;
  const keys = Object.keys(value);
  let isOrdered = true;
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at] as string;
    if (isUnusual(key)) return UNUSUAL;
    if (at > 0 && key < (keys[at - 1] as string)) isOrdered = false;
  }
  if (!isOrdered) keys.sort();
  const ordered: { [key: string]: Json } = {};
  for (const key of keys) {
    const member = value[key] as Json;
    const put = typeof member === 'string' ? member : inOrder(member);
    if (put === UNUSUAL) return UNUSUAL;
    if (put !== member) isOrdered = false;
    ordered[key] = put;
  }
  return isOrdered ? value : ordered;
}

function itemsInOrder(items: Json[]): Json | typeof UNUSUAL {
  const ordered: Json[] = [];
  for (const item of items) {
    const put = inOrder(item);
    if (put === UNUSUAL) return UNUSUAL;
    ordered.push(put);
  }
  return ordered;
}

/**
 * Keys that cannot be put in order by assignment: those that look like numbers always come first, and `__proto__` sets
 * the prototype. `toJSON` could be called by `JSON.stringify`.
 */
function isUnusual(key: string): boolean {
  const first = key.charCodeAt(0);
  return (first >= ZERO && first <= NINE) || key === '__proto__' || key === 'toJSON';
}

const UNUSUAL = Symbol('unusual');
const ZERO = 0x30;
const NINE = 0x39;
