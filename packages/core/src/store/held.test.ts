import { expect, test } from 'vitest';
import { SilentLog } from '../../test-support/silent-log.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import { CLAIM_LIMIT, claimAll } from './held.ts';

test('everything is claimed some at a time, and what was claimed is given even if the rest cannot be', async () => {
  const signal = new AbortController().signal;
  const patience = { clock: new TestClock(), log: new SilentLog(), signal };
  const full = Array.from({ length: CLAIM_LIMIT }, (_, number) => number);
  const given: (readonly number[])[] = [];
  const from = async (windows: (readonly number[] | Error)[]) => {
    const claim = async () => {
      const window = windows.shift();
      if (window instanceof Error) throw window;
      return window ?? [];
    };
    for await (const window of claimAll(claim, patience)) given.push(window);
  };
  await from([full, [1, 2], [3]]);
  expect(given).toEqual([full, [1, 2]]);
  given.length = 0;
  await expect(from([full, new Error('broken')])).rejects.toThrow('broken');
  expect(given).toEqual([full]);
});
