import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Json, parseJson } from './json.ts';
import { pointerTo, segmentsOf, valueAt } from './pointer.ts';

test('a pointer to nothing further is its parent', () => {
  expect(pointerTo('')).toBe('');
  expect(pointerTo('/a')).toBe('/a');
});

test('segments are put below the parent, indexes too', () => {
  expect(pointerTo('/a', 'b', 0)).toBe('/a/b/0');
});

test('~ and / inside a key are escaped, the ~ first', () => {
  expect(pointerTo('', 'a/b', 'c~d', '~1')).toBe('/a~1b/c~0d/~01');
});

test('the empty key is a segment', () => {
  expect(pointerTo('', '')).toBe('/');
  expect(segmentsOf('/')).toEqual(['']);
  expect(segmentsOf('')).toEqual([]);
});

test('any segments come back as they were', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: fc.constantFrom('~', '/', '0', '1', 'a', '\u2028') })), (segments) => {
      expect(segmentsOf(pointerTo('', ...segments))).toEqual(segments);
    }),
  );
});

test('the examples of RFC 6901 §5 name what they should', () => {
  const value = { foo: ['bar', 'baz'], '': 0, 'a/b': 1, 'c%d': 2, 'e^f': 3, 'i\\j': 5, 'k"l': 6, ' ': 7, 'm~n': 8 };
  const pointers = ['', '/foo', '/foo/0', '/', '/a~1b', '/c%d', '/e^f', '/i\\j', '/k"l', '/ ', '/m~0n'];
  expect(pointers.map((pointer) => valueAt(value, pointer))).toEqual([value, value.foo, 'bar', 0, 1, 2, 3, 5, 6, 7, 8]);
});

test('every value of a message is found by its own pointer', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (json) => {
      const visit = (value: Json, pointer: string): void => {
        expect(valueAt(json, pointer)).toBe(value);
        if (typeof value !== 'object' || value === null) return;
        for (const [key, member] of Object.entries(value)) visit(member, pointerTo(pointer, key));
      };
      visit(json as Json, '');
    }),
  );
});

test('a missing value is undefined, including below a string or null', () => {
  const value = { a: 'text', b: null, c: [1] };
  for (const pointer of ['/x', '/a/0', '/a/length', '/b/x', '/c/1', '/c/01', '/c/-', '/x/y/z']) {
    expect(valueAt(value, pointer), pointer).toBeUndefined();
  }
  expect(valueAt(undefined, '/a')).toBeUndefined();
});

test('only own members are read, and an array has none but its items', () => {
  for (const pointer of [
    '/toString',
    '/constructor',
    '/__proto__',
    '/constructor/prototype',
    '/list/length',
    '/list/map',
  ]) {
    expect(valueAt({ list: [] }, pointer), pointer).toBeUndefined();
  }
  const parsed = parseJson('{"__proto__":{"length":1},"length":2}');
  expect(parsed.ok && valueAt(parsed.value, '/__proto__/length')).toBe(1);
  expect(parsed.ok && valueAt(parsed.value, '/length')).toBe(2);
});
