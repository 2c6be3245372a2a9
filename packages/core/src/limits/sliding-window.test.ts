import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TestClock } from '../../test-support/test-clock.ts';
import type { CounterRow, CounterStore } from '../store/store.ts';
import { SlidingWindows, type Window } from './sliding-window.ts';

const minute: Window = { name: 'per_minute', limit: 3, seconds: 60 };
const hour: Window = { name: 'per_hour', limit: 5, seconds: 3600 };

test('lets through up to the limit and then returns how long to wait', () => {
  const windows = new SlidingWindows({ clock: new TestClock() });
  const taken = [1, 2, 3].map(() => windows.take('p', [minute]));
  expect(taken.map(({ allowed }) => allowed)).toEqual([true, true, true]);
  expect(taken.map(({ states }) => states[0]?.remaining)).toEqual([2, 1, 0]);
  const refused = windows.take('p', [minute]);
  expect(refused.allowed).toBe(false);
  expect(refused.states[0]?.retryAfter).toBeGreaterThan(0);
  expect(refused.states[0]?.retryAfter).toBeLessThanOrEqual(61);
});

test('after the reported wait, something is free', () => {
  const clock = new TestClock();
  const windows = new SlidingWindows({ clock });
  while (windows.take('p', [minute]).allowed);
  clock.pass((windows.take('p', [minute]).states[0]?.retryAfter ?? 0) * 1000);
  expect(windows.take('p', [minute]).allowed).toBe(true);
});

test('the state reported after taking equals the state that is read', () => {
  const clock = new TestClock();
  const windows = new SlidingWindows({ clock });
  for (let count = 0; count < 2; count++) {
    expect(windows.take('p', [minute, hour]).states).toEqual(windows.states('p', [minute, hour]));
    clock.pass(700);
  }
});

test('a full window takes nothing from the others', () => {
  const windows = new SlidingWindows({ clock: new TestClock() });
  while (windows.take('p', [minute, hour]).allowed);
  expect(windows.states('p', [hour])[0]?.remaining).toBe(2);
});

test('principals do not share a window', () => {
  const windows = new SlidingWindows({ clock: new TestClock() });
  while (windows.take('p', [minute]).allowed);
  expect(windows.take('q', [minute]).allowed).toBe(true);
});

test.each([-2, 2])('a clock that jumps by %s hours neither frees a window nor keeps it full', (hours) => {
  const clock = new TestClock();
  const windows = new SlidingWindows({ clock });
  while (windows.take('p', [minute]).allowed);
  const wait = windows.states('p', [minute])[0]?.retryAfter ?? 0;
  clock.jump(hours * 3600 * 1000);
  const { allowed, states } = windows.take('p', [minute]);
  expect([allowed, states[0]?.retryAfter]).toEqual([false, wait]);
  expect((states[0]?.resetAt ?? 0) - clock.now().getTime() / 1000).toBeLessThanOrEqual(wait);
  clock.pass(wait * 1000);
  expect(windows.take('p', [minute]).allowed).toBe(true);
});

test('counts of an earlier process with a clock that was ahead stay, for no longer than their window', async () => {
  const rows = new Map<string, CounterRow>();
  const store: CounterStore = {
    load: async () => [...rows.values()],
    add: async (added) => {
      for (const row of added) {
        const key = `${row.principal} ${row.name} ${row.slice}`;
        rows.set(key, { ...row, count: row.count + (rows.get(key)?.count ?? 0) });
      }
    },
  };
  const ahead = new TestClock('2026-03-30T12:00:00.000Z');
  const first = new SlidingWindows({ clock: ahead });
  while (first.take('p', [minute]).allowed);
  await first.save(store);
  const clock = new TestClock();
  for (let start = 0; start < 3; start += 1) {
    const next = new SlidingWindows({ clock });
    expect(await next.load(store)).toBeGreaterThan(clock.now().getTime());
    expect(next.take('p', [minute]).allowed).toBe(false);
    await next.save(store);
  }
  clock.pass(62_000);
  const last = new SlidingWindows({ clock });
  await last.load(store);
  expect(last.take('p', [minute]).allowed).toBe(true);
});

test('in no stretch of a minute does more pass than the limit and the slice at its seam', () => {
  const window: Window = { name: 'w', limit: 20, seconds: 60 };
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 4000 }), { maxLength: 200 }), (pauses) => {
      const clock = new TestClock();
      const windows = new SlidingWindows({ clock });
      const passed: number[] = [];
      for (const pause of pauses) {
        clock.pass(pause);
        if (windows.take('p', [window]).allowed) passed.push(clock.now().getTime());
      }
      for (const at of passed) {
        const within = passed.filter((other) => other >= at && other < at + 59_000);
        expect(within.length).toBeLessThanOrEqual(20);
      }
    }),
    { numRuns: 50 },
  );
});

test('counts every slice for the part of it that is inside, however time passes', () => {
  const pauses = fc.array(fc.integer({ min: 0, max: 9_000 }), { maxLength: 120 });
  fc.assert(
    fc.property(pauses, fc.constantFrom(7, 10, 60), (times, seconds) => {
      const window: Window = { name: 'w', limit: 1000, seconds };
      const clock = new TestClock();
      const windows = new SlidingWindows({ clock });
      const width = (seconds * 1000) / 60;
      const taken: number[] = [];
      for (const time of times) {
        clock.pass(time);
        const now = clock.now().getTime();
        taken.push(Math.floor(now / width));
        const used = taken.reduce(
          (sum, slice) => sum + Math.max(0, Math.min(1, (slice * width + width - (now - seconds * 1000)) / width)),
          0,
        );
        const { remaining = Number.NaN } = windows.take('p', [window]).states[0] ?? {};
        expect(Math.abs(remaining - (1000 - used))).toBeLessThan(1.000001);
      }
    }),
    { numRuns: 100 },
  );
});

test('a limit of zero has a finite wait', () => {
  const windows = new SlidingWindows({ clock: new TestClock() });
  const { allowed, states } = windows.take('p', [{ name: 'never', limit: 0, seconds: 60 }]);
  expect([allowed, states[0]?.retryAfter]).toEqual([false, 61]);
});

test('counts of one process are known to the next', async () => {
  const clock = new TestClock();
  const first = new SlidingWindows({ clock });
  while (first.take('p', [minute]).allowed);
  const saved: Parameters<Parameters<SlidingWindows['save']>[0]['add']>[0][number][] = [];
  const store = {
    load: async () => saved,
    add: async (rows: readonly (typeof saved)[number][]) => void saved.push(...rows),
  };
  await first.save(store);
  const second = new SlidingWindows({ clock });
  await second.load(store);
  expect(second.take('p', [minute]).allowed).toBe(false);
});

test('an idle caller is evicted, including from the next save', async () => {
  const clock = new TestClock();
  const windows = new SlidingWindows({ clock });
  windows.take('early', [minute]);
  clock.pass(300_000);
  windows.take('late', [minute]);
  windows.prune(120);
  const saved: string[] = [];
  await windows.save({
    load: async () => [],
    add: async (rows) => void saved.push(...rows.map(({ principal }) => principal)),
  });
  expect(saved).toEqual(['late']);
});
