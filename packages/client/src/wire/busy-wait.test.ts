import { expect, test } from 'vitest';
import { BusyWait } from './busy-wait.ts';

function loop() {
  const next: (() => void)[] = [];
  const wait = new BusyWait((callback) => next.push(callback));
  /** Runs until the loop would sleep, and returns how many turns that took. */
  const turns = ({ endAfter = Number.POSITIVE_INFINITY } = {}): number => {
    let count = 0;
    for (let callback = next.shift(); callback !== undefined; callback = next.shift()) {
      callback();
      count += 1;
      if (count === endAfter) wait.end();
      if (count > 10_000) throw new Error('it never stops');
    }
    return count;
  };
  return { wait, turns };
}

test('the loop turns until the answer has come', () => {
  const { wait, turns } = loop();
  for (let call = 0; call < 10; call += 1) {
    wait.begin();
    expect(turns({ endAfter: 40 })).toBe(41);
  }
});

test('the loop sleeps after 300 turns without an answer', () => {
  const { wait, turns } = loop();
  wait.begin();
  expect(turns()).toBe(300);
  wait.begin();
  expect(turns()).toBe(300);
});

test('a second request turns the same loop, for its own 300 turns', () => {
  const { wait, turns } = loop();
  wait.begin();
  wait.begin();
  expect(turns({ endAfter: 1 })).toBe(2);
});

test('an answer without a waiter turns nothing', () => {
  const { wait, turns } = loop();
  wait.end();
  expect(turns()).toBe(0);
});
