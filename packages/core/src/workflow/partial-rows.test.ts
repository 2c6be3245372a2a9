import { type Json, parseJson } from '@dragoman/protocols';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonSize } from '../json-size.ts';
import { PartialRows } from './partial-rows.ts';
import { MOST_ITEMS } from './results-text.ts';

const FILLER = 'x'.repeat(512);
const rows = (count: number, row: (at: number) => object = (at) => ({ id: at, status: 'active', note: FILLER })) =>
  Array.from({ length: count }, (_, at) => row(at));

/** Makes a pattern of the first answer. */
function partly(...names: string[]): PartialRows {
  return new PartialRows(names, 1);
}

describe('rows that are alike', () => {
  test('have the members that were asked for, and are whole when they are written', () => {
    const text = JSON.stringify(
      rows(3, (at) => ({ id: at - 1.5, ok: at === 1, none: null, é: FILLER, status: `s${at}` })),
    );
    const read = partly('id', 'none', 'ok', 'status').read(text);
    expect(read?.items.map((row) => ({ ...row }))).toEqual([
      { id: -1.5, ok: false, none: null, status: 's0' },
      { id: -0.5, ok: true, none: null, status: 's1' },
      { id: 0.5, ok: false, none: null, status: 's2' },
    ]);
    expect(JSON.stringify(read?.items)).toBe(text);
    expect(read?.items.map(({ place }) => place)).toEqual([0, 1, 2]);
  });

  test('need none of their members', () => {
    const text = JSON.stringify(rows(2));
    const read = partly().read(text);
    expect(JSON.stringify(read?.items)).toBe(text);
  });

  test('may have a space between their parts, as Python writes them', () => {
    const all = rows(4);
    const text = JSON.stringify(all, null, 1)
      .replaceAll(/\n */g, ' ')
      .replaceAll(/([[{]) | (?=[\]}])/g, '$1');
    expect(text).toMatch(/^\[\{"id": 0, "status": "active", "note": "x+"\}, \{"id": 1/);
    const read = partly('id').read(text);
    expect(JSON.parse(JSON.stringify(read?.items))).toEqual(all);
    expect(read?.ends.map((end) => text[end])).toEqual([',', ',', ',', ']']);
  });

  test('take as much as they do whole', () => {
    const all = rows(3);
    const read = partly('id').read(JSON.stringify(all));
    const size = jsonSize(read?.items as unknown as Json);
    expect(size).toBeGreaterThan(3 * FILLER.length);
    expect(Math.abs(size - jsonSize(all as Json))).toBeLessThan(64);
  });
});

describe('anything else is read whole:', () => {
  const text = JSON.stringify(rows(3));
  test.each<[string, string, string[]?]>([
    ['a short text', '[{"id":1}]'],
    ['one object', JSON.stringify(rows(1)[0])],
    ['an empty array', `[]${' '.repeat(600)}`],
    ['other members', JSON.stringify(rows(3, (at) => ({ id: at, note: FILLER, ...(at === 2 && { more: 1 }) })))],
    ['another order', JSON.stringify([...rows(1), { status: '', id: 1, note: '' }])],
    ['an object in a row', JSON.stringify(rows(2, (at) => ({ id: at, note: FILLER, in: {} })))],
    ['an array in a row', JSON.stringify(rows(2, (at) => ({ id: at, note: FILLER, in: [] })))],
    ['an escape', JSON.stringify(rows(2, (at) => ({ id: at, note: `${FILLER}"` })))],
    ['a control character', text.replace('active', 'act\u0001ive')],
    ['an exponent', text.replace('"id":1', '"id":1e5')],
    ['a number too long to be looked at', text.replace('"id":1', `"id":${'1'.repeat(21)}`)],
    ['a number with a leading zero', text.replace('"id":1', '"id":01')],
    ['no member of that name', text, ['points']],
    [
      'a member that would be taken for our own',
      JSON.stringify(rows(2, () => ({ toJSON: 1, note: FILLER }))),
      ['toJSON'],
    ],
    ['one member twice', text.replaceAll('"status"', '"id"')],
    ['__proto__', text.replaceAll('"status"', '"__proto__"')],
    ['a line break', text.replace('},', '},\n')],
    ['two commas', text.replace('},', '},,')],
    ['a comma at the end', `${text.slice(0, -1)},]`],
    ['no end', text.slice(0, -1)],
    ['no end behind a comma', `${text.slice(0, -1)},`],
    ['more behind the end', `${text}]`],
    [
      'too many members to make a pattern of',
      JSON.stringify([Object.fromEntries(rows(33).map((_, at) => [`${at}`, FILLER]))]),
      [],
    ],
    ['more than can be told apart', JSON.stringify(rows(MOST_ITEMS + 1, (at) => ({ id: at })))],
    ['more than is kept as text', JSON.stringify(rows(130))],
  ])('%s', (_, other, names = ['id']) => {
    expect(partly(...names).read(other)).toBeUndefined();
  });

  test('what begins in another way, also where the rows are known', () => {
    const partial = partly('id');
    expect(partial.read(text)).toBeDefined();
    expect(partial.read(text.replace('[', '{'))).toBeUndefined();
    expect(partial.read(text)).toBeDefined();
  });

  test('as many as are told apart are not', () => {
    expect(partly('id').read(JSON.stringify(rows(MOST_ITEMS, (at) => ({ id: at }))))?.items).toHaveLength(MOST_ITEMS);
  });
});

test('an answer of another shape is read by its own', () => {
  const partial = partly('id');
  for (const row of [
    { id: 1, note: FILLER },
    { note: FILLER, id: 2 },
    { id: 1, note: FILLER },
  ]) {
    expect({ ...partial.read(JSON.stringify([row]))?.items[0] }).toEqual({ id: row.id });
  }
});

test('a pattern is made when it is worth it: not for who asks once, and not for ever for an API that keeps changing', () => {
  const partial = new PartialRows(['id'], 3);
  const one = JSON.stringify(rows(2));
  const other = JSON.stringify([{ id: 1, other: FILLER }]);
  const read = (text: string, times: number) =>
    Array.from({ length: times }, () => (partial.read(text) === undefined ? 'whole' : 'partly'));
  expect(read(one, 4)).toEqual(['whole', 'whole', 'partly', 'partly']);
  // One that is different in between does no harm.
  expect([...read(other, 2), ...read(one, 1)]).toEqual(['whole', 'whole', 'partly']);
  expect(read(other, 4)).toEqual(['whole', 'whole', 'partly', 'partly']);
  expect([...read(one, 3), ...read(other, 3)]).toEqual(['whole', 'whole', 'partly', 'whole', 'whole', 'partly']);
  // Enough of that: the last one stays.
  expect([...read(one, 9), ...read(other, 1)]).toEqual([...Array(9).fill('whole'), 'partly']);
});

test('whatever is read in part, a strict reader takes too, and for the same', () => {
  const plain = fc.oneof(
    fc.constantFrom('', 'x', 'é', 'a b', '}', '],['),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
  );
  const scalar = fc.oneof({ weight: 60, arbitrary: plain }, fc.string(), fc.double({ noNaN: true }));
  const name = fc.oneof(
    { weight: 60, arbitrary: fc.constantFrom('a', 'b', 'c', '(d)', 'e.f', ' ', '\u{1f600}') },
    fc.string(),
  );
  const shape = fc.uniqueArray(name, { minLength: 1, maxLength: 6 });
  const tables = shape.chain((names) =>
    fc.tuple(fc.constant(names), fc.array(fc.tuple(...names.map(() => scalar)), { minLength: 1, maxLength: 20 })),
  );
  // A character put somewhere, taken away, or written twice.
  const change = fc.record({
    at: fc.nat(),
    character: fc.constantFrom('', '"', ',', ' ', '}', '{', ']', '0', '-', '.'),
  });
  const seen = { partly: 0 };
  fc.assert(
    fc.property(tables, fc.option(change), fc.subarray(['a', 'b']), ([names, table], changed, asked) => {
      const whole = table.map((values) =>
        Object.fromEntries([...values.entries()].map(([at, value]) => [names[at], value])),
      );
      let text = JSON.stringify([...whole, ...whole.map((row) => ({ ...row })), ...Array(40).fill(whole[0])]);
      if (changed !== null) {
        const at = changed.at % text.length;
        text = text.slice(0, at) + changed.character + text.slice(at + (changed.at % 2));
      }
      const read = partly(...asked).read(text);
      if (read === undefined) return;
      seen.partly++;
      const strict = parseJson(text, { numbers: 'finite' });
      const values = strict.ok ? (strict.value as Record<string, Json>[]) : [];
      expect(strict.ok).toBe(true);
      // As texts: written, -0 is 0 for both.
      expect(JSON.stringify(read.items)).toBe(JSON.stringify(values));
      expect(read.items.map((row) => ({ ...row }))).toEqual(
        values.map((row) =>
          Object.fromEntries(
            Object.keys(row).flatMap((name) => (asked.includes(name as never) ? [[name, row[name]]] : [])),
          ),
        ),
      );
      expect(read.ends).toHaveLength(values.length);
    }),
    { numRuns: 2000 },
  );
  expect(seen.partly).toBeGreaterThan(100);
});
