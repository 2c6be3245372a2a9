import { expect, test } from 'vitest';
import { TestClock } from '../../../test-support/test-clock.ts';
import { IdleWatch } from './idle-watch.ts';

/** A clock whose timers a test fires, however late. */
function watched(idleMs: number) {
  let elapsed = 0;
  let next = () => {};
  const actions: string[] = [];
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
    ask: () => actions.push('pinged'),
    onGone: () => actions.push('gone'),
  });
  const at = (moment: number, happens = () => next()) => {
    elapsed = moment;
    happens();
    return actions;
  };
  return { watch, at };
}

test('a peer is pinged before it counts as gone, however late the timers fire', () => {
  const { watch, at } = watched(3_000);
  at(5, () => watch.received());
  expect(at(1_501)).toEqual([]);
  expect(at(3_010)).toEqual(['pinged']);
  expect(at(4_515)).toEqual(['pinged', 'gone']);
});

test('one that answers is pinged again the next time it is silent', () => {
  const { watch, at } = watched(3_000);
  expect(at(1_500)).toEqual(['pinged']);
  at(2_900, () => watch.received());
  expect(at(3_000)).toEqual(['pinged']);
  expect(at(5_950)).toEqual(['pinged', 'pinged']);
  expect(at(7_450)).toEqual(['pinged', 'pinged', 'gone']);
});
