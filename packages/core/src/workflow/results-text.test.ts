import type { Json } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import { resultsText } from './results-text.ts';

const rows: Json = [{ id: 1, name: 'row "1"' }, { id: 2 }];
const results = new Map<string, Json>([
  ['fetch', rows],
  ['a "name"', rows],
  ['count', 5],
]);

test('results are one object, each as it would be written alone', () => {
  expect(resultsText(results, new Map())).toBe(JSON.stringify(Object.fromEntries(results)));
  expect(resultsText(new Map(), new Map())).toBe('{}');
});

test('a result that is text already stays that text', () => {
  const text = '[ {"id":1.0,"name":"row \\u00221\\u0022"},{"id":2} ]';
  const made = resultsText(results, new Map([['fetch', text]]));
  expect(made).toContain(`"fetch":${text},`);
  expect(JSON.parse(made)).toEqual(Object.fromEntries(results));
});
