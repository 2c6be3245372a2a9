import { type Json, parseJson } from '@dragoman/protocols';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { wholeText } from '../brief-text.ts';
import { resultsText, type Written } from './results-text.ts';

const rows: Json[] = Array.from({ length: 10 }, (_, id) => ({ id, name: `row "${id}"`, tags: ['},{'] }));
const some = rows.filter((_, at) => at % 2 === 0);
const results = new Map<string, Json>([
  ['fetch', rows],
  ['filter', some],
  ['sort', some.toReversed()],
  ['count', 5],
]);

test('results are one object, each as it would be written alone', () => {
  expect(textOf(results)).toBe(JSON.stringify(Object.fromEntries(results)));
  expect(textOf(new Map())).toBe('{}');
});

test('what is made of the items of a written result is the same as without it', () => {
  for (const text of [JSON.stringify(rows), JSON.stringify(rows, null, 1).replaceAll('\n', '')]) {
    const made = textOf(results, { fetch: asWritten(text) });
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
  const made = textOf(answers, { fetch: asWritten('[{"name":"é"},{"name":"x"}]') });
  expect(made).toBe('{"fetch":[{"name":"é"},{"name":"x"}],"last":[{"name":"x"},{"name":"new"},7,null]}');
});

test('whatever is picked from whichever arrays, in whatever order, is as it would be written alone', () => {
  const items = fc.array(fc.oneof(fc.record({ id: fc.nat(), name: fc.string() }), fc.nat(99), fc.constant(null)), {
    maxLength: 40,
  });
  const places = fc.array(fc.nat(100), { maxLength: 60 });
  fc.assert(
    fc.property(items, items, fc.array(places, { maxLength: 3 }), fc.boolean(), (one, two, lists, isWritten) => {
      const texts = [JSON.stringify(one), JSON.stringify(two)] as const;
      const [first, second] = texts.map((text) => JSON.parse(text)) as [Json[], Json[]];
      // Beyond the items there are new ones, which nobody has written.
      const all = [...first, ...second];
      const made = lists.map((list, at) => [`made-${at}`, list.map((place) => all[place] ?? { place })] as const);
      const whole = new Map<string, Json>([['one', first], ...made, ['two', second]]);
      const written = isWritten ? { one: asWritten(texts[0]), two: asWritten(texts[1]) } : {};
      expect(textOf(whole, written)).toBe(JSON.stringify(Object.fromEntries(whole)));
    }),
  );
});

test('items that stand in several results are kept once', () => {
  const users: Json[] = Array.from({ length: 100 }, (_, id) => ({ id, name: `user ${id}` }));
  const text = JSON.stringify(users);
  const made = new Map<string, Json>([
    ['fetch', users],
    ['filter', users.filter((_, at) => at % 2 === 0)],
    ['sort', users.toReversed()],
  ]);
  for (const written of [new Map(), new Map([['fetch', asWritten(text)]])]) {
    expect(resultsText(made, written)).toMatchObject({ text: `{"fetch":${text},"filter":[],"sort":[,]}` });
  }
});

function textOf(of: ReadonlyMap<string, Json>, written: Readonly<Record<string, Written>> = {}): string {
  return wholeText(resultsText(of, new Map(Object.entries(written))));
}

function asWritten(text: string): Written {
  const ends: number[] = [];
  parseJson(text, {}, ends);
  return { text, ends };
}
