import canonicalize from 'canonicalize';
import type { Json } from './json.ts';

/**
 * The one text of a value by RFC 8785, for what is signed or compared: keys in order of their UTF-16 units, numbers
 * as ECMAScript writes them, no white space.
 *
 * It throws on a lone surrogate or a number that is not finite. `parseJson` lets neither in, so only we can bring one.
 */
export function canonicalJson(value: Json): string {
  const text = canonicalize(value);
  if (text === undefined) throw new Error('only a JSON value has a canonical form');
  return text;
}
