import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { InFlight } from './in-flight.ts';

describe('things under way', () => {
  test('are found by their id until they are removed', () => {
    const calls = new InFlight<string>();
    calls.add('a', 'first');
    calls.add('b', 'second');
    expect(calls.get('a')).toBe('first');
    expect(calls.remove('a')).toBe('first');
    expect(calls.has('a')).toBe(false);
    expect(calls.remove('a')).toBeUndefined();
    expect(calls.size).toBe(1);
  });

  test('keep their order of arrival, even with an id that was used before', () => {
    const calls = new InFlight<number>();
    calls.add('a', 1);
    calls.add('b', 2);
    calls.remove('a');
    calls.add('a', 3);
    expect(calls.entries()).toEqual([
      ['b', 2],
      ['a', 3],
    ]);
  });

  test('survive any number of others that come and go', () => {
    const calls = new InFlight<number>();
    calls.add('stays', -1);
    for (let index = 0; index < 10_000; index++) {
      calls.add(`id ${index}`, index);
      if (index >= 3) expect(calls.remove(`id ${index - 3}`)).toBe(index - 3);
    }
    expect(calls.entries().map(([id]) => id)).toEqual(['stays', 'id 9997', 'id 9998', 'id 9999']);
    expect(calls.size).toBe(4);
    calls.clear();
    expect([calls.size, calls.entries()]).toEqual([0, []]);
  });

  test('are taken oldest first, in any mixture with others that come and go', () => {
    const calls = new InFlight<number>();
    const wanted: number[] = [];
    const taken: number[] = [];
    expect(calls.shift()).toBeUndefined();
    for (let index = 0; index < 5_000; index++) {
      calls.add(`id ${index % 700} ${index}`, index);
      if (index % 5 === 0) calls.remove(`id ${index % 700} ${index}`);
      else wanted.push(index);
      if (index % 3 === 0) taken.push(...((calls.shift()?.slice(1) as number[] | undefined) ?? []));
    }
    for (let next = calls.shift(); next !== undefined; next = calls.shift()) taken.push(next[1]);
    expect(taken).toEqual(wanted);
    calls.add('later', 1);
    expect(calls.shift()).toEqual(['later', 1]);
  });

  test('are released when they are removed, however many followed them', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage: () => void = runInNewContext('gc');
    const calls = new InFlight<object, number>();
    const removed: WeakRef<object>[] = [];
    for (let id = 0; id < 200; id++) {
      const call = {};
      removed.push(new WeakRef(call));
      calls.add(id, call);
      if (id >= 32) calls.remove(id - 32);
    }
    // Objects created in a turn live until its end.
    await new Promise((resolve) => setTimeout(resolve));
    collectGarbage();
    expect(removed.filter((call) => call.deref() !== undefined)).toHaveLength(calls.size);
  });
});
