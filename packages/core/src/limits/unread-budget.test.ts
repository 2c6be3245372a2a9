import { expect, test } from 'vitest';
import { SilentLog } from '../../test-support/silent-log.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import { NO_PERMISSIONS, type Principal } from '../call/principal.ts';
import { UnreadBudget } from './unread-budget.ts';

/** A budget of 100 bytes, and connections that record when they are dropped. */
function setUp() {
  const budget = new UnreadBudget({ maxBytes: 100, clock: new TestClock(), log: new SilentLog() });
  const dropped: string[] = [];
  const open = (name: string, caller?: string) => {
    const principal: Principal | undefined =
      caller === undefined ? undefined : { id: caller, kind: 'agent', permissions: NO_PERMISSIONS };
    return budget.open({ principal, address: '192.0.2.1', drop: () => dropped.push(name) });
  };
  return { budget, dropped, open };
}

test('beyond the budget, the caller that holds most loses the connection that has not read for the longest time', () => {
  const { dropped, open } = setUp();
  const [first, second] = [open('first', 'many'), open('second', 'many')];
  open('other', 'honest').sent(30);
  first.sent(30);
  second.sent(30);
  // It has read something, so it is not the slowest any more.
  first.read(10);
  open('late', 'another').sent(25);
  expect(dropped).toEqual(['second']);
});

test('bytes that were read or dropped are released exactly once', () => {
  const { dropped, open } = setUp();
  const [a, b] = [open('a', 'one'), open('b', 'two')];
  a.sent(90);
  a.read(90);
  a.read(90);
  b.sent(90);
  b.close();
  b.close();
  a.sent(100);
  expect(dropped).toEqual([]);
});

test('one answer larger than the budget is delivered while no other needs room', () => {
  const { dropped, open } = setUp();
  open('large', 'one').sent(1_000);
  expect(dropped).toEqual([]);
  open('small', 'two').sent(1);
  expect(dropped).toEqual(['large']);
});

test('peers that have not proven who they are share what their address holds', () => {
  const { budget, dropped, open } = setUp();
  open('known', 'one').sent(40);
  open('first').sent(30);
  open('second').sent(30);
  open('third', 'one').sent(5);
  expect(dropped).toEqual(['first']);
  expect(budget.drops).toBe(1);
});
