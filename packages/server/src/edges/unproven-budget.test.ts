import { expect, test } from 'vitest';
import { UnprovenBudget } from './unproven-budget.ts';

test('peers share one budget, and one that would exceed it is refused and keeps what it has', () => {
  const budget = new UnprovenBudget({ totalBytes: 100 });
  const [one, other] = [budget.hold(), budget.hold()];
  expect(one.set(60)).toBe(true);
  expect(other.set(40)).toBe(true);
  expect(other.set(41)).toBe(false);
  expect(budget.heldBytes).toBe(100);
});

test('a peer that holds less gives room to others, even if the budget is full', () => {
  const budget = new UnprovenBudget({ totalBytes: 100 });
  const [one, other] = [budget.hold(), budget.hold()];
  one.set(100);
  expect(one.set(20)).toBe(true);
  expect(other.set(80)).toBe(true);
});

test('a peer that was released holds nothing, however often it is released and whatever it holds later', () => {
  const budget = new UnprovenBudget({ totalBytes: 100 });
  const peer = budget.hold();
  peer.set(60);
  peer.release();
  peer.release();
  expect(peer.set(1_000)).toBe(true);
  expect(budget.heldBytes).toBe(0);
});
