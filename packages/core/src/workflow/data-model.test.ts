import type { Json } from '@dragoman/protocols';
import { type Path, parsePath } from '@dragoman/protocols/a2e-workflow';
import { describe, expect, test } from 'vitest';
import { DataModel } from './data-model.ts';
import type { Label } from './label.ts';
import { NOWHERE, type Origin } from './origin.ts';

const users = [{ name: 'Ada', tags: ['x'] }, { name: 'Bob' }];

describe('the data model', () => {
  test.each(['/workflow/users/0/name', '/workflow/users[0].name', '/workflow/users/0.name', '/workflow/users[0]/name'])(
    'reads %s',
    (text) => {
      expect(modelWith(users).find(path(text))).toBe('Ada');
    },
  );

  test('a segment is one key first, then its parts', () => {
    const model = new DataModel();
    model.write(path('/workflow/data'), { 'a.b': 1, a: { b: 2, c: 3 } }, NOWHERE);
    expect(model.find(path('/workflow/data/a.b'))).toBe(1);
    expect(model.find(path('/workflow/data/a.c'))).toBe(3);
  });

  test.each([
    '/workflow/users/length',
    '/workflow/users/toString',
    '/workflow/users/2',
    '/workflow/users/0/name/length',
    '/workflow/users/-1',
    '/workflow/users/00',
  ])('nothing is at %s', (text) => {
    expect(modelWith(users).find(path(text))).toBeUndefined();
  });

  test('a write copies the values around it: earlier readers keep theirs', () => {
    const model = modelWith(users);
    const before = model.find(path('/workflow/users'));
    const copy = model.fork().model;
    model.write(path('/workflow/users/0/name'), 'Eve', NOWHERE);
    expect(model.find(path('/workflow/users/0/name'))).toBe('Eve');
    expect(before).toBe(users);
    expect(users[0]?.name).toBe('Ada');
    expect(copy.find(path('/workflow/users'))).toBe(users);
    expect(model.find(path('/workflow/users/1'))).toBe(users[1]);
  });

  test('missing objects are made, and an array where an index is written', () => {
    const model = new DataModel();
    model.write(path('/workflow/a/b.c'), 1, NOWHERE);
    model.write(path('/workflow/list[0].x'), 2, NOWHERE);
    expect(model.find(path('/workflow/a'))).toEqual({ b: { c: 1 } });
    expect(model.find(path('/workflow/list'))).toEqual([{ x: 2 }]);
  });

  test.each([
    ['/workflow/users[3]', 'is not an index from 0 to 2'],
    ['/workflow/users/length', 'is not an index from 0 to 2'],
    ['/workflow/users/x', 'is not an index from 0 to 2'],
    ['/workflow/users/0/name/first', 'is a string'],
  ])('%s cannot be written', (text, why) => {
    expect(() => modelWith(users).write(path(text), 1, NOWHERE)).toThrow(why);
  });

  test('no index above 100,000 is written, however long the array is', () => {
    const long = modelWith(Array.from({ length: 100_001 }, () => 0));
    long.write(path('/workflow/users/100000'), 1, NOWHERE);
    expect(() => long.write(path('/workflow/users/100001'), 1, NOWHERE)).toThrow('is not an index from 0 to 100000');
  });

  test('an item can be replaced and appended, never with a hole between', () => {
    const model = modelWith([1, 2]);
    model.write(path('/workflow/users/2'), 3, NOWHERE);
    model.write(path('/workflow/users[0]'), 0, NOWHERE);
    expect(model.find(path('/workflow/users'))).toEqual([0, 2, 3]);
  });

  test.each([
    '/workflow/__proto__/x',
    '/workflow/a.constructor.prototype.x',
    '/workflow/a[__proto__]',
    '/workflow/a/prototype',
  ])('%s is not a path', (text) => {
    expect(parsePath(text).ok).toBe(false);
  });

  test('objects it makes have no prototype', () => {
    const model = new DataModel();
    model.write(path('/workflow/a/b'), 1, NOWHERE);
    expect(Object.getPrototypeOf(model.find(path('/workflow/a')))).toBeNull();
  });

  test('knows the source of a value, of its parts and of its container', () => {
    const model = new DataModel();
    const origin = (lineage: string): Origin => ({ lineage, sizes: [], labels: [labelOf(lineage)], by: lineage });
    model.write(path('/workflow/a/x'), { y: 1 }, origin('one'));
    model.write(path('/workflow/a/z'), 2, origin('two'));
    expect(model.origin(path('/workflow/a/x')).lineage).toBe('one');
    expect(model.origin(path('/workflow/a/x/y')).labels).toEqual(['one'].map(labelOf));
    expect(model.origin(path('/workflow/a/x/y')).lineage).not.toBe('one');
    expect(model.origin(path('/workflow/a')).labels).toEqual(['one', 'two'].map(labelOf));
    model.write(path('/workflow/a/x/y'), 3, origin('three'));
    expect(model.origin(path('/workflow/a/x')).labels).toEqual(['one', 'three'].map(labelOf));
    expect(model.origin(path('/workflow/a/x')).lineage).not.toBe('one');
    model.write(path('/workflow/a'), 1, origin('four'));
    expect(model.origin(path('/workflow/a/x')).labels).toEqual(['four'].map(labelOf));
  });
});

function labelOf(from: string): Label {
  return { from, to: [from] };
}

function modelWith(value: Json): DataModel {
  const model = new DataModel();
  model.write(path('/workflow/users'), value, NOWHERE);
  return model;
}

function path(text: string): Path {
  const parsed = parsePath(text);
  if (!parsed.ok) throw new Error(`${text} ${parsed.fault.expected}`);
  return parsed.path;
}
