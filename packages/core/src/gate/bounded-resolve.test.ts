import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { TestClock } from '../../test-support/test-clock.ts';
import { boundedResolve } from './bounded-resolve.ts';
import { isPassingLookup } from './resolver.ts';

/** Lookups that end when they are told to. */
function open() {
  const clock = new TestClock();
  const underWay = new Map<string, { found(): void; fail(error: Error): void }>();
  const resolve = boundedResolve(
    (name) =>
      new Promise((resolved, fail) => {
        underWay.set(name, { found: () => resolved([`address of ${name}`]), fail });
      }),
    { clock, withinMs: 10_000 },
  );
  return { clock, resolve, underWay };
}

test('two names that were never found are looked up at a time, the others in their turn', async () => {
  const { resolve, underWay } = open();
  const all = ['a', 'b', 'c', 'd'].map(resolve);
  expect([...underWay.keys()]).toEqual(['a', 'b']);
  underWay.get('b')?.found();
  underWay.get('a')?.fail(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }));
  await expect(all[0]).rejects.toMatchObject({ code: 'ENOTFOUND' });
  await setImmediate();
  expect([...underWay.keys()]).toEqual(['a', 'b', 'c', 'd']);
  for (const name of ['c', 'd']) underWay.get(name)?.found();
  expect(await Promise.all(all.slice(1))).toEqual([['address of b'], ['address of c'], ['address of d']]);
});

test('a name that was found before waits for no stranger', async () => {
  const { resolve, underWay } = open();
  const first = resolve('good');
  underWay.get('good')?.found();
  await first;
  for (const name of ['a', 'b', 'c']) void resolve(name).catch(() => {});
  underWay.delete('good');
  const again = resolve('good');
  underWay.get('good')?.found();
  expect(await again).toEqual(['address of good']);
});

test('a lookup that takes too long may come to something later, and keeps its place until it ends', async () => {
  const { clock, resolve, underWay } = open();
  const all = ['a', 'b', 'c'].map((name) => resolve(name).catch((error: unknown) => error));
  clock.pass(10_000);
  for (const fault of await Promise.all(all)) expect(isPassingLookup(fault)).toBe(true);
  const later = resolve('d');
  expect(underWay.has('d')).toBe(false);
  underWay.get('a')?.found();
  await setImmediate();
  // Nobody waits for c any more.
  expect([...underWay.keys()]).toEqual(['a', 'b', 'd']);
  underWay.get('d')?.found();
  expect(await later).toEqual(['address of d']);
});

test('names that were found before and are not answered for any more leave a thread to others', async () => {
  const { clock, resolve, underWay } = open();
  const names = ['a', 'b', 'c', 'd', 'e'];
  for (const name of names) {
    const first = resolve(name);
    underWay.get(name)?.found();
    await first;
    await setImmediate();
  }
  underWay.clear();
  const all = names.map((name) => resolve(name).catch((error: unknown) => error));
  expect([...underWay.keys()]).toEqual(['a', 'b', 'c']);
  clock.pass(10_000);
  for (const fault of await Promise.all(all)) expect(isPassingLookup(fault)).toBe(true);
  // They are strangers again, and have no more than two places.
  for (const name of ['a', 'b', 'c']) underWay.get(name)?.fail(new Error('no answer'));
  await setImmediate();
  underWay.clear();
  for (const name of names) void resolve(name).catch(() => {});
  expect([...underWay.keys()]).toEqual(['a', 'b']);
});
