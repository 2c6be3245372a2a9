import type { Json } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import { resultsText } from './results-text.ts';

const rows: Json[] = Array.from({ length: 10 }, (_, id) => ({ id, name: `row "${id}"`, tags: ['},{'] }));
const some = rows.filter((_, at) => at % 2 === 0);
const results = new Map<string, Json>([
  ['fetch', rows],
  ['filter', some],
  ['sort', some.toReversed()],
  ['count', 5],
]);

test('results are one object, each as it would be written alone', () => {
  expect(resultsText(results, new Map())).toBe(JSON.stringify(Object.fromEntries(results)));
  expect(resultsText(new Map(), new Map())).toBe('{}');
});

test('what is made of the items of a written result is the same as without it', () => {
  for (const text of [JSON.stringify(rows), JSON.stringify(rows, null, 1).replaceAll('\n', '')]) {
    const made = resultsText(results, new Map([['fetch', text]]));
    expect(JSON.parse(made)).toEqual(Object.fromEntries(results));
    expect(made).toContain(`"fetch":${text},"filter":${JSON.stringify(some)}`);
  }
});

test('items are taken as they were written', () => {
  const item: Json = { name: 'é' };
  const other: Json = { name: 'x' };
  const answers = new Map<string, Json>([
    ['fetch', [item, other]],
    ['last', [other, { name: 'new' }, 7, null]],
  ]);
  const made = resultsText(answers, new Map([['fetch', '[{"name":"é"},{"name":"x"}]']]));
  expect(made).toBe('{"fetch":[{"name":"é"},{"name":"x"}],"last":[{"name":"x"},{"name":"new"},7,null]}');
});
