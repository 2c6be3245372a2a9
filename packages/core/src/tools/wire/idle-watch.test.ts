import { expect, test } from 'vitest';
import { TestClock } from '../../../test-support/test-clock.ts';
import { IdleWatch } from './idle-watch.ts';

/** A clock whose moments come when they are told to, as late as that may be. */
function watched(idleMs: number) {
  let elapsed = 0;
  let next = () => {};
  const told: string[] = [];
  const clock = Object.assign(new TestClock(), {
    elapsed: () => elapsed,
    after: (_: number, callback: () => void) => {
      next = callback;
      return () => {};
    },
  });
  const watch = new IdleWatch({
    clock,
    idleMs,
    isBusy: () => false,
    unreadMs: () => 0,
    ask: () => told.push('asked'),
    onGone: () => told.push('gone'),
  });
  const at = (moment: number, happens = () => next()) => {
    elapsed = moment;
    happens();
    return told;
  };
  return { watch, at };
}

test('a peer is asked before it is gone, however late the moments come at which it is looked at', () => {
  const { watch, at } = watched(3_000);
  at(5, () => watch.received());
  expect(at(1_501)).toEqual([]);
  expect(at(3_010)).toEqual(['asked']);
  expect(at(4_515)).toEqual(['asked', 'gone']);
});

test('one that answers is asked again the next time it is silent', () => {
  const { watch, at } = watched(3_000);
  expect(at(1_500)).toEqual(['asked']);
  at(2_900, () => watch.received());
  expect(at(3_000)).toEqual(['asked']);
  expect(at(5_950)).toEqual(['asked', 'asked']);
  expect(at(7_450)).toEqual(['asked', 'asked', 'gone']);
});
