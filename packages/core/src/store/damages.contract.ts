import { describe, expect, test } from 'vitest';
import { heldOf, rememberingHolds } from '../../test-support/held-runs.ts';
import { frame, requestRow } from './requests.contract.ts';
import type { Store } from './store.ts';

/** Like `OpenStore`. Before the data of `earlier` is opened again, `statement` is run on it. */
export type OpenDamaged = (earlier?: Store, statement?: string) => Promise<Store>;

/** The contract of every durable store for open runs that cannot be read. */
export function describeDamages(name: string, open: OpenDamaged): void {
  describe(`open runs that cannot be read from ${name}`, () => {
    const OF_REQUEST = "request = (SELECT id FROM requests WHERE request_id = 'bad')";
    test.each([
      ['a damaged envelope', "UPDATE requests SET envelope = '[]' WHERE request_id = 'bad'"],
      ['a damaged frame', `UPDATE frames SET text = '[]' WHERE first = 1 AND ${OF_REQUEST}`],
      ['a missing frame', `DELETE FROM frames WHERE first = 0 AND ${OF_REQUEST}`],
    ])('do not keep other requests from being claimed: %s', async (_, damage) => {
      const earlier = rememberingHolds(await open());
      for (const requestId of ['before', 'bad', 'after']) {
        const row = requestRow({ requestId, state: 'started' });
        await earlier.requests.accept(row, { letter: { thread: null } });
        for (const sequence of [0, 1]) await earlier.requests.append(heldOf(earlier, row), [frame(sequence)]);
      }
      const store = await open(earlier, damage);
      expect((await store.requests.claim(10)).map(({ row }) => row.requestId)).toEqual(['before', 'after']);
      expect((await store.threads.claim(10)).map(({ requestId }) => requestId)).toEqual(['after', 'before']);
      await expect(store.requests.find(requestRow({ requestId: 'bad' }))).rejects.toMatchObject(DAMAGED);
      await using again = await open(store);
      expect(await again.requests.claim(10)).toHaveLength(2);
      expect(await again.threads.claim(10)).toHaveLength(2);
      expect(await again.cluster?.hasLeftovers()).not.toBe(true);
    });

    test.each([
      ['a damaged request', "UPDATE executions SET request = '[]' WHERE execution_id = 'bad'"],
      [
        'a damaged effect',
        "UPDATE execution_effects SET note = '[]' WHERE execution = (SELECT id FROM executions WHERE execution_id = 'bad')",
      ],
    ])('do not keep other executions from being claimed: %s', async (_, damage) => {
      const earlier = rememberingHolds(await open());
      for (const executionId of ['before', 'bad', 'after']) {
        const row = {
          owner: 'ann',
          executionId,
          digest: 'd',
          idempotencyKey: null,
          request: '{}',
          acceptedAt: 1,
          end: null,
        };
        await earlier.executions.accept(row);
        const effect = { position: 0, key: 'k', kind: 'call', note: '{}', bytes: null } as const;
        await earlier.executions.append(heldOf(earlier, row), [effect]);
      }
      const store = await open(earlier, damage);
      expect((await store.executions.claim(10)).map(({ row }) => row.executionId)).toEqual(['before', 'after']);
      await expect(store.executions.find({ owner: 'ann', executionId: 'bad' })).rejects.toMatchObject(DAMAGED);
      const page = { before: Number.MAX_SAFE_INTEGER, limit: 10, status: 'error' };
      expect(await store.executions.list('ann', page)).toMatchObject([{ executionId: 'bad' }]);
      await using again = await open(store);
      expect(await again.executions.claim(10)).toHaveLength(2);
    });
  });
}

const DAMAGED = { code: 'store_damaged' };
