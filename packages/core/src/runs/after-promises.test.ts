import { expect, test } from 'vitest';
import { afterPromises } from './after-promises.ts';

async function hops(count: number, done: () => void): Promise<void> {
  for (let hop = 0; hop < count; hop++) await undefined;
  done();
}

test.each([
  ['from the loop', (ask: () => void) => setImmediate(ask)],
  ['from a tick', (ask: () => void) => process.nextTick(ask)],
  ['from a promise', (ask: () => void) => void Promise.resolve().then(ask)],
])('all chained promises are handled when called %s', async (_where, from) => {
  const events: string[] = [];
  await new Promise<void>((resolve) => {
    from(() => {
      void hops(50, () => events.push('promises'));
      void afterPromises().then(() => {
        events.push('after');
        resolve();
      });
    });
  });
  expect(events).toEqual(['promises', 'after']);
});
