import { expect, test } from 'vitest';
import { TestClock } from '../../test-support/test-clock.ts';
import { everyHour, ONE_HOUR } from './every-hour.ts';

const lines: unknown[] = [];
const keep = (...line: unknown[]) => lines.push(line);
const log = { debug: keep, info: keep, warn: keep, error: keep };

test('a failure is logged and tried again after an hour, but not logged when the server stops in the meantime', async () => {
  const clock = new TestClock();
  const stopped = new AbortController();
  const tries: ((reason: Error) => void)[] = [];
  const work = () => new Promise<void>((_, reject) => tries.push(reject));
  const running = everyHour(work, { clock, log, signal: stopped.signal, failed: 'could not be removed' });

  tries[0]?.(new Error('busy'));
  await clock.advance(0);
  expect(lines).toEqual([[{ error: 'Error: busy' }, 'could not be removed']]);

  await clock.advance(ONE_HOUR);
  expect(tries).toHaveLength(2);
  stopped.abort();
  tries[1]?.(new Error('the store is closed'));
  await running;
  expect(lines).toHaveLength(1);
});
