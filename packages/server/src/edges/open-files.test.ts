import { expect, test, vi } from 'vitest';
import { connectionLimit, connectionsWithin, softLimitIn } from './open-files.ts';

test.each([
  ['Max open files            1024                 524288               files', 1024],
  ['Limit  Soft Limit\nMax processes 7 7\nMax open files            256                 256               files', 256],
  ['Max open files            unlimited            unlimited            files', undefined],
  ['', undefined],
])('the soft limit is found in the text of /proc/self/limits', (text, limit) => {
  expect(softLimitIn(text)).toBe(limit);
});

test('a quarter is reserved for the store and its files, but at most 256', () => {
  expect(connectionsWithin(256)).toBe(192);
  expect(connectionsWithin(1_024)).toBe(768);
  expect(connectionsWithin(1_048_576)).toBe(1_048_320);
});

test.each([
  ['is kept where it fits', 500, 1_024, 500, 0],
  ['is lowered with a warning where it does not', 1_000, 1_024, 768, 1],
  ['is kept where the limit of open files is unknown', 1_000, undefined, 1_000, 0],
])('limits.connections %s', (_what, wanted, openFiles, limit, warnings) => {
  const warn = vi.fn();
  const log = { debug: warn, info: warn, warn, error: warn };
  expect(connectionLimit(wanted, openFiles, log)).toBe(limit);
  expect(warn).toHaveBeenCalledTimes(warnings);
});
