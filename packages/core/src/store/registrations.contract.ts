import { describe, expect, test } from 'vitest';
import type { RegistrationRow } from './registrations.ts';
import type { Store } from './store.ts';

/** The contract of every store for registrations. `open` returns a fresh, empty one. */
export function describeRegistrations(name: string, open: () => Promise<Store>): void {
  describe(`${name}: registrations`, () => {
    const row: RegistrationRow = {
      agentId: 'weather',
      owner: 'weather',
      card: '{}',
      endpoint: 'https://weather.example.com/a2a',
      registeredAt: 1,
      lastHeartbeat: 1,
    };

    test('the last registration of an id is the one that is listed, in the order of the ids', async () => {
      await using store = await open();
      await store.registrations.put(row);
      await store.registrations.put({ ...row, agentId: 'prices' });
      await store.registrations.put({ ...row, endpoint: 'https://other.example.com', lastHeartbeat: 2 });
      expect(await store.registrations.list()).toEqual([
        { ...row, agentId: 'prices' },
        { ...row, endpoint: 'https://other.example.com', lastHeartbeat: 2 },
      ]);
    });

    test('an id belongs to who registered it first, or to the owner of that name', async () => {
      await using store = await open();
      const both = await Promise.all([
        store.registrations.put({ ...row, owner: 'ada' }),
        store.registrations.put({ ...row, owner: 'bob' }),
      ]);
      expect([...both].sort()).toEqual([false, true]);
      const owner = both[0] ? 'ada' : 'bob';
      expect(await store.registrations.list()).toEqual([{ ...row, owner }]);
      expect(await store.registrations.put(row)).toBe(true);
      expect(await store.registrations.put({ ...row, owner })).toBe(false);
      expect(await store.registrations.list()).toEqual([row]);
    });

    test('an id that differs only in the case of letters is refused, unless it is the name of its owner', async () => {
      await using store = await open();
      await store.registrations.put(row);
      expect(await store.registrations.put({ ...row, agentId: 'Weather', owner: 'weather' })).toBe(false);
      expect(await store.registrations.put({ ...row, agentId: 'Weather', owner: 'Weather' })).toBe(true);
      expect(await store.registrations.put({ ...row, lastHeartbeat: 2 })).toBe(true);
      expect((await store.registrations.list()).map(({ agentId }) => agentId)).toEqual(['Weather', 'weather']);
    });

    test('heartbeats after a time are listed, the earliest first', async () => {
      await using store = await open();
      for (const agentId of ['a', 'b', 'c']) await store.registrations.put({ ...row, agentId, owner: agentId });
      await store.registrations.beat('c', 7);
      await store.registrations.beat('a', 9);
      expect(await store.registrations.beats(6)).toEqual([
        { agentId: 'c', lastHeartbeat: 7 },
        { agentId: 'a', lastHeartbeat: 9 },
      ]);
      expect(await store.registrations.beats(9)).toEqual([]);
    });

    test('a heartbeat changes only its time, and fails for an unknown agent', async () => {
      await using store = await open();
      await store.registrations.put(row);
      expect(await store.registrations.beat('weather', 9)).toBe(true);
      expect(await store.registrations.beat('unknown', 9)).toBe(false);
      expect(await store.registrations.list()).toEqual([{ ...row, lastHeartbeat: 9 }]);
    });

    test('what is removed is gone, and cannot be removed twice', async () => {
      await using store = await open();
      await store.registrations.put(row);
      expect(await store.registrations.remove('weather')).toBe(true);
      expect(await store.registrations.remove('weather')).toBe(false);
      expect(await store.registrations.list()).toEqual([]);
    });
  });
}
