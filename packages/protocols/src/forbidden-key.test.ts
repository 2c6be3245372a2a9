import { expect, test } from 'vitest';
import { forbiddenKeysIn, hasForbiddenKey } from './forbidden-key.ts';
import type { JsonObject } from './json.ts';

test('each name that reaches a prototype is one problem, at its own place', () => {
  const record = JSON.parse('{"a": 1, "__proto__": {}, "constructor": 1, "prototype": null}') as JsonObject;
  expect(forbiddenKeysIn(record, '/auth').map(({ pointer }) => pointer)).toEqual([
    '/auth/__proto__',
    '/auth/constructor',
    '/auth/prototype',
  ]);
});

test('an inherited member is not a field', () => {
  expect(hasForbiddenKey({ a: 1 })).toBe(false);
  expect(forbiddenKeysIn({ a: 1 }, '')).toEqual([]);
});
