import { expect, test } from 'vitest';
import { UnprovenBudget } from './unproven-budget.ts';

test('peers share one budget, and one that would exceed it is refused and keeps what it has', () => {
  const budget = new UnprovenBudget({ messageBytes: 100, totalBytes: 100 });
  const [one, other] = [budget.hold('10.0.0.1'), budget.hold('10.0.0.2')];
  expect(one.set(60)).toBe(true);
  expect(other.set(40)).toBe(true);
  expect(other.set(41)).toBe(false);
  expect(budget.heldBytes).toBe(100);
});

test('a peer that holds less gives room to others, even if the budget is full', () => {
  const budget = new UnprovenBudget({ messageBytes: 100, totalBytes: 100 });
  const [one, other] = [budget.hold('10.0.0.1'), budget.hold('10.0.0.2')];
  one.set(100);
  expect(one.set(20)).toBe(true);
  expect(other.set(80)).toBe(true);
});

test('a peer that was released holds nothing, however often it is released and whatever it holds later', () => {
  const budget = new UnprovenBudget({ messageBytes: 100, totalBytes: 100 });
  const peer = budget.hold('10.0.0.1');
  peer.set(60);
  peer.release();
  peer.release();
  expect(peer.set(1_000)).toBe(true);
  expect(budget.heldBytes).toBe(0);
});

test('one address holds a quarter of it at most, and leaves the rest to others', () => {
  const budget = new UnprovenBudget({ messageBytes: 10, totalBytes: 100 });
  const [one, same, other] = ['10.0.0.1', '::ffff:10.0.0.1', '10.0.0.2'].map((address) => budget.hold(address));
  expect(one?.set(20)).toBe(true);
  expect(same?.set(6)).toBe(false);
  expect(other?.set(25)).toBe(true);
  one?.release();
  expect(same?.set(25)).toBe(true);
});
