import { expect, test } from 'vitest';
import { memoryStore } from '../../../test-support/memory-store.ts';
import { SilentLog } from '../../../test-support/silent-log.ts';
import { TestClock } from '../../../test-support/test-clock.ts';
import { ONE_HOUR } from '../../time/every-hour.ts';
import { lexicalSearch } from '../memory/lexical-search.ts';
import { Memories } from '../memory/memories.ts';
import { memoryPlugin } from './memory.ts';

test('expired memories are deleted at the start and every hour, until the host stops', async () => {
  const clock = new TestClock();
  const store = memoryStore();
  const memories = new Memories({ store: store.memories, search: lexicalSearch, clock });
  const plugin = memoryPlugin({ memories, clock, log: new SilentLog() });
  const remember = async (key: string, milliseconds: number) => {
    const now = clock.now().getTime();
    const times = { createdAt: now, updatedAt: now, expiresAt: now + milliseconds };
    const row = { space: `space of ${key}`, key, owner: 'ann', entry: '{}', ...times };
    await store.memories.put(row, { entries: 9, size: 99, spaces: 9 });
    return async () => (await store.memories.list(row.space, 0)).length;
  };
  const before = await remember('before', 1_000);
  clock.pass(1_000);
  await plugin.setup?.();
  await clock.advance(0);
  expect(await before()).toBe(0);
  const [soon, later] = [await remember('soon', ONE_HOUR), await remember('later', 2 * ONE_HOUR)];
  await clock.advance(ONE_HOUR);
  expect([await soon(), await later()]).toEqual([0, 1]);
  await plugin.teardown?.();
  await clock.advance(ONE_HOUR);
  expect(await later()).toBe(1);
  expect(clock.waiting).toBe(0);
});
