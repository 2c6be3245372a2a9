import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock, systemIds } from './system-ports.ts';

// Node's timers hold 24.8 days; a longer one would be over at once. The time is not the real one, the clock is.

const DAY = 24 * 3_600_000;

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => vi.useRealTimers());

test.each([0.5, 20, 60, 100])('a timer of %d days fires then, and not before', (days) => {
  const happened: string[] = [];
  systemClock.after(days * DAY, () => happened.push('it'));
  vi.advanceTimersByTime(days * DAY - 1);
  expect(happened).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(happened).toEqual(['it']);
});

test('a timer cancelled after a month does not fire', () => {
  const happened: string[] = [];
  const callOff = systemClock.after(60 * DAY, () => happened.push('it'));
  vi.advanceTimersByTime(30 * DAY);
  callOff();
  vi.advanceTimersByTime(60 * DAY);
  expect(happened).toEqual([]);
});

test('a wait of years lasts until it is ended', async () => {
  vi.useRealTimers();
  const ended = new AbortController();
  const waited = systemClock.wait(1_000 * DAY, ended.signal).then(
    () => 'over',
    () => 'ended',
  );
  expect(await Promise.race([waited, systemClock.wait(50).then(() => 'still waiting')])).toBe('still waiting');
  ended.abort();
  expect(await waited).toBe('ended');
});

test('sortable ids have 32 digits, order by the millisecond in which they were made, and differ within one', () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 0xffff });
  const first = Array.from({ length: 1000 }, () => systemIds.sortable());
  vi.setSystemTime(0x10000);
  const later = systemIds.sortable();
  expect(new Set(first).size).toBe(first.length);
  for (const id of first) {
    expect(id).toMatch(/^00000000ffff[0-9a-f]{20}$/);
    expect(id < later).toBe(true);
  }
});
