import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Store } from './store.ts';

/** The contract of every store for agents. `open` returns a fresh, empty one. */
export function describeAgents(name: string, open: () => Promise<Store>): void {
  describe(`agents in ${name}`, () => {
    let store: Store;

    beforeEach(async () => {
      store = await open();
    });

    afterEach(() => store[Symbol.asyncDispose]());

    test('are put, replaced, listed by age and removed', async () => {
      await store.agents.put({ agentId: 'b', definition: '{"v":1}', createdAt: 2 });
      await store.agents.put({ agentId: 'a', definition: '{}', createdAt: 1 });
      await store.agents.put({ agentId: 'b', definition: '{"v":2}', createdAt: 2 });
      expect(await store.agents.list()).toEqual([
        { agentId: 'a', definition: '{}', createdAt: 1 },
        { agentId: 'b', definition: '{"v":2}', createdAt: 2 },
      ]);
      expect(await store.agents.remove('a')).toBe(true);
      expect(await store.agents.remove('a')).toBe(false);
      expect(await store.agents.list()).toHaveLength(1);
    });
  });
}
