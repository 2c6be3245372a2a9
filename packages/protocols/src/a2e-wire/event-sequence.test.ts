import { expect, test } from 'vitest';
import { EventSequence } from './event-sequence.ts';

test('each request is counted by itself, and from 0 again once it is forgotten', () => {
  const sequence = new EventSequence();
  expect([sequence.next('a'), sequence.next('b'), sequence.next('a')]).toEqual([0, 0, 1]);
  sequence.forget('a');
  expect([sequence.next('a'), sequence.next('b')]).toEqual([0, 1]);
});
