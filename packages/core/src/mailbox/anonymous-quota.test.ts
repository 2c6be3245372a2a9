import { expect, test } from 'vitest';
import { TestClock } from '../../test-support/test-clock.ts';
import type { AnonymousRange } from '../store/anonymous.ts';
import { AnonymousQuota } from './anonymous-quota.ts';

const KIB = 1024;

function quotaOver(left: (range: AnonymousRange) => number) {
  const clock = new TestClock();
  const swept: AnonymousRange[] = [];
  const store = {
    sweep: async (range: AnonymousRange) => {
      swept.push(range);
      return left(range);
    },
  };
  const quota = new AnonymousQuota({
    store,
    clock,
    purgeTime: { now: () => clock.now().getTime() },
    settings: { bytes: 64 * KIB, keepMs: 3_600_000 },
  });
  return { quota, clock, swept };
}

test('the store is swept once for many messages, and keeps seven eighths', async () => {
  const { quota, swept } = quotaOver(({ keepBytes }) => keepBytes);
  for (let message = 0; message < 200; message += 1) await quota.admit(256);
  const [first] = swept;
  expect(first?.keepBytes).toBe(56 * KIB);
  expect(swept.length).toBeLessThanOrEqual(200 / 8 + 1);
});

test('messages of an earlier process count from the start', async () => {
  const { quota, swept } = quotaOver(() => 64 * KIB);
  await expect(quota.admit(1)).rejects.toMatchObject({ failure: { code: 'busy', details: { retry_after: 60 } } });
  expect(swept).toHaveLength(1);
});

test('when all messages are in progress, further ones are refused without a sweep for each', async () => {
  const { quota, clock, swept } = quotaOver(() => 64 * KIB);
  await quota.sweep();
  for (let message = 0; message < 100; message += 1) await expect(quota.admit(10)).rejects.toThrow('is full');
  expect(swept).toHaveLength(1);
  clock.pass(1000);
  await expect(quota.admit(10)).rejects.toThrow('is full');
  expect(swept).toHaveLength(2);
});

test('two messages at once ask the store once', async () => {
  const { quota, swept } = quotaOver(() => 0);
  await quota.admit(31 * KIB);
  await Promise.all([quota.admit(15 * KIB), quota.admit(15 * KIB)]);
  expect(swept).toHaveLength(2);
});

test('messages older than the retention time are removed', async () => {
  const { quota, clock, swept } = quotaOver(() => 0);
  await quota.sweep();
  expect(swept[0]?.before).toBe(clock.now().getTime() - 3_600_000);
});
