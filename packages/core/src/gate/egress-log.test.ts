import { expect, test } from 'vitest';
import { type EgressEntry, EgressLog } from './egress-log.ts';

const entry = (at: number): EgressEntry => ({
  at,
  caller: 'ada',
  method: 'GET',
  host: 'api.example.com',
  outcome: 'answered',
  status: 200,
  reason: null,
  milliseconds: 1,
});

test('the latest entries come first, and only so many are kept', () => {
  const log = new EgressLog();
  for (const at of [1, 2, 3]) log.add(entry(at));
  expect(log.latest.map(({ at }) => at)).toEqual([3, 2, 1]);
  for (let at = 4; at <= 1200; at++) log.add(entry(at));
  expect(log.latest.map(({ at }) => at)).toEqual(Array.from({ length: 500 }, (_, index) => 1200 - index));
});
