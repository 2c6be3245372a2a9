import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { TestClock } from '../../test-support/test-clock.ts';
import { isPassingLookup, type Lookup } from './resolver.ts';
import { SystemLookups } from './system-lookups.ts';

/** Lookups that a test ends. */
function open() {
  const clock = new TestClock();
  const underWay = new Map<string, { found(): void; fail(error: Error): void }>();
  const lookups = new SystemLookups({
    resolve: (name) =>
      new Promise((resolved, fail) => {
        underWay.set(name, { found: () => resolved([`address of ${name}`]), fail });
      }),
    clock,
    withinMs: 10_000,
  });
  const lookUp = (name: string, isChosen = true) => lookups.lookUp(name, { isChosen });
  /** Looks a name up and finds it. */
  const find = async (name: string) => {
    const { answers } = lookUp(name);
    underWay.get(name)?.found();
    await answers;
    await setImmediate();
    underWay.clear();
  };
  return { clock, lookUp, find, underWay };
}

const faultOf = ({ answers }: Lookup) => answers.catch((error: unknown) => error);

test('two names that were never found are looked up at a time, the others in their turn', async () => {
  const { lookUp, underWay } = open();
  const all = ['a', 'b', 'c', 'd'].map((name) => lookUp(name));
  expect(all.map(({ hasStarted }) => hasStarted)).toEqual([true, true, false, false]);
  underWay.get('b')?.found();
  underWay.get('a')?.fail(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }));
  await expect(all[0]?.answers).rejects.toMatchObject({ code: 'ENOTFOUND' });
  await setImmediate();
  expect([...underWay.keys()]).toEqual(['a', 'b', 'c', 'd']);
  for (const name of ['c', 'd']) underWay.get(name)?.found();
  const found = await Promise.all(all.slice(1).map(({ answers }) => answers));
  expect(found).toEqual([['address of b'], ['address of c'], ['address of d']]);
});

test('a name that was found before waits for none that was not', async () => {
  const { lookUp, find, underWay } = open();
  await find('good');
  for (const name of ['a', 'b', 'c']) void faultOf(lookUp(name));
  const again = lookUp('good');
  underWay.get('good')?.found();
  expect(await again.answers).toEqual(['address of good']);
});

test('a name that the operator chose waits for none that somebody else did', () => {
  const { lookUp, underWay } = open();
  for (const name of ['a', 'b', 'c']) void faultOf(lookUp(name, false));
  void faultOf(lookUp('chosen'));
  expect([...underWay.keys()]).toEqual(['a', 'chosen']);
});

test('a lookup that takes too long may succeed later, and keeps its place until it ends', async () => {
  const { clock, lookUp, underWay } = open();
  const all = ['a', 'b', 'c'].map((name) => lookUp(name));
  const faults = Promise.all(all.map(faultOf));
  clock.pass(10_000);
  for (const fault of await faults) expect(isPassingLookup(fault)).toBe(true);
  const later = lookUp('d');
  expect(later.hasStarted).toBe(false);
  underWay.get('a')?.found();
  await setImmediate();
  // No caller waits for c any more.
  expect([...underWay.keys()]).toEqual(['a', 'b', 'd']);
  underWay.get('d')?.found();
  expect(await later.answers).toEqual(['address of d']);
});

test('an unanswered name has one place, however often it is requested', async () => {
  const { clock, lookUp, underWay } = open();
  void faultOf(lookUp('dead'));
  clock.pass(10_000);
  const again = [lookUp('dead'), lookUp('dead')];
  expect(again.map(({ hasStarted }) => hasStarted)).toEqual([true, true]);
  const other = lookUp('a');
  underWay.get('a')?.found();
  expect(await other.answers).toEqual(['address of a']);
  clock.pass(9999);
  underWay.get('dead')?.found();
  expect(await again[1]?.answers).toEqual(['address of dead']);
});

test('one that waits for more than half of its time is not started; one that starts has the rest', async () => {
  const { clock, lookUp, underWay } = open();
  const all = ['a', 'b', 'c', 'd'].map((name) => lookUp(name));
  for (const { answers } of all) answers.catch(() => {});
  clock.pass(4999);
  underWay.get('a')?.found();
  await setImmediate();
  clock.pass(1);
  expect(isPassingLookup(await faultOf(all[3] as Lookup))).toBe(true);
  expect(all.map(({ hasStarted }) => hasStarted)).toEqual([true, true, true, false]);
  clock.pass(4999);
  underWay.get('c')?.found();
  expect(await all[2]?.answers).toEqual(['address of c']);
});

test('names that were found before and are not answered for any more leave a thread to others', async () => {
  const { clock, lookUp, find, underWay } = open();
  const names = ['a', 'b', 'c', 'd', 'e'];
  for (const name of names) await find(name);
  const all = names.map((name) => faultOf(lookUp(name)));
  expect([...underWay.keys()]).toEqual(['a', 'b', 'c']);
  clock.pass(10_000);
  for (const fault of await Promise.all(all)) expect(isPassingLookup(fault)).toBe(true);
  for (const name of ['a', 'b', 'c']) underWay.get(name)?.fail(new Error('no answer'));
  await setImmediate();
  underWay.clear();
  // Those are unknown names again, and have no more than two places; the others had no chance yet.
  for (const name of names) void faultOf(lookUp(name));
  expect([...underWay.keys()]).toEqual(['a', 'b', 'd']);
});
