import { expect, test } from 'vitest';
import { changesBetween, unsaidIn } from './changes.ts';

const nothing = () => undefined;

test('a place that is gone is dropped, one that is other is changed, one that is new is invented', () => {
  const before = { kept: 1, gone: { deep: 'x' }, other: 'a', empty: null };
  const after = { kept: 1, other: 'b', fresh: { list: ['y'] }, empty: null };
  expect(changesBetween(before, after, (pointer) => (pointer === '/gone' ? 'for a reason' : undefined))).toEqual({
    dropped: [{ pointer: '/gone', why: 'for a reason' }],
    changed: [{ pointer: '/other', why: 'it is "b" now', value: 'b' }],
    invented: [{ pointer: '/fresh/list/0', why: expect.any(String), value: 'y' }],
  });
});

test('a value that became empty is dropped, not changed', () => {
  expect(changesBetween({ auth: { token: 't' } }, { auth: {} }, nothing)).toMatchObject({
    dropped: [{ pointer: '/auth/token' }],
    changed: [],
  });
  expect(changesBetween({ headers: 'x' }, { headers: {} }, nothing)).toMatchObject({
    dropped: [{ pointer: '/headers' }],
    changed: [],
  });
});

test('in another shape a value counts as kept wherever it stands, even as a part of a text', () => {
  const to = { message: 'hello', id: 'new', count: 3, flag: true };
  expect(unsaidIn(to, [{ body: 'well hello there' }, { n: [3] }], nothing).map(({ pointer }) => pointer)).toEqual([
    '/id',
    '/flag',
  ]);
});
