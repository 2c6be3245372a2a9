import { isObject, type Json } from '@dragoman/protocols';

/**
 * Removes characters that are invisible to a person but read by a model: controls, zero-width characters, bidirectional
 * marks, tag characters, variation selectors and private use. A description must not contain more than the operator who
 * allowed the tool could see.
 */
export function withoutInvisible(value: Json): Json {
  if (typeof value === 'string') return INVISIBLE.test(value) ? value.replaceAll(INVISIBLE_ALL, '') : value;
  if (Array.isArray(value)) return value.map(withoutInvisible);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name.replaceAll(INVISIBLE_ALL, ''), withoutInvisible(member)]),
  );
}

/** Tab, line feed and carriage return are kept. */
const PATTERN =
  '[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5' +
  '\\u180b-\\u180f\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ue000-\\uf8ff\\ufe00-\\ufe0f\\ufeff\\uffa0' +
  '\\ufff0-\\ufffb\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}\\u{f0000}-\\u{10ffff}]';
const INVISIBLE = new RegExp(PATTERN, 'u');
const INVISIBLE_ALL = new RegExp(PATTERN, 'gu');
