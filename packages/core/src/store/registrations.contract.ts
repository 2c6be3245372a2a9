import { describe, expect, test } from 'vitest';
import type { RegistrationRow } from './registrations.ts';
import type { Store } from './store.ts';

/** What every store must do with registrations. `open` gives a fresh, empty one. */
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

    test('a heartbeat changes its time alone, and is none for an agent that is not there', async () => {
      await using store = await open();
      await store.registrations.put(row);
      expect(await store.registrations.beat('weather', 9)).toBe(true);
      expect(await store.registrations.beat('nobody', 9)).toBe(false);
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
