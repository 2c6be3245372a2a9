import { expect, test } from 'vitest';
import { DragomanError } from './dragoman-error.ts';
import { DEFAULT_RETRY, RetryPauses, type Timing } from './retry.ts';

const unreachable = new DragomanError({ code: 'unreachable', message: 'x', retryable: true });

/** Time that passes only in pauses. */
function backoff(random = 1, retry = {}) {
  let now = 0;
  const timing: Timing = {
    elapsed: () => now,
    random: () => random,
    wait: async (milliseconds) => {
      now += milliseconds;
    },
  };
  return new RetryPauses({ ...DEFAULT_RETRY, ...retry }, timing);
}

async function pauses(of: RetryPauses, count: number): Promise<number[]> {
  const found: number[] = [];
  for (let tries = 0; tries < count; tries++) {
    const pause = of.next(unreachable);
    found.push(pause);
    await of.wait(pause);
  }
  return found;
}

test('pauses double from a quarter of a second to eight seconds', async () => {
  expect(await pauses(backoff(), 8)).toEqual([250, 500, 1000, 2000, 4000, 8000, 8000, 8000]);
});

test('half of a pause is chance', async () => {
  expect(await pauses(backoff(0), 3)).toEqual([125, 250, 500]);
  expect(await pauses(backoff(0.5), 2)).toEqual([187.5, 375]);
});

test('after a minute without progress it gives up with the last error', async () => {
  const tried = backoff();
  await expect(pauses(tried, 100)).rejects.toBe(unreachable);
});

test('progress starts the count again', async () => {
  const tried = backoff(1, { giveUpAfterMs: 1000 });
  await pauses(tried, 2);
  tried.progress();
  expect(await pauses(tried, 2)).toEqual([250, 500]);
  await expect(pauses(tried, 1)).rejects.toBe(unreachable);
});

test('Retry-After is honoured, unless it exceeds the time limit', () => {
  const later = (retryAfter: number) =>
    new DragomanError({ code: 'rate_limited', message: 'x', retryable: true, retryAfter });
  expect(backoff().next(later(30))).toBe(30_000);
  expect(() => backoff().next(later(61))).toThrow(DragomanError);
});

test('permanent failures are not retried', () => {
  const forbidden = new DragomanError({ code: 'forbidden', message: 'x' });
  expect(() => backoff().next(forbidden)).toThrow(forbidden);
});

test('without patience there is one try', () => {
  expect(() => backoff(1, { giveUpAfterMs: 0 }).next(unreachable)).toThrow(unreachable);
});
