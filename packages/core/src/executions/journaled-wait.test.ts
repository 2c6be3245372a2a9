import { expect, test } from 'vitest';
import { heldOf, rememberingHolds } from '../../test-support/held-runs.ts';
import { memoryStore } from '../../test-support/memory-store.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import { ALL_PERMISSIONS, type Principal } from '../call/principal.ts';
import { Ending } from '../ending/ending.ts';
import type { ApiCalls } from './api-calls.ts';
import { EffectJournal } from './effect-journal.ts';
import { JournaledEffects } from './journaled-effects.ts';
import type { AskPerson } from './parked-execution.ts';
import type { StoredData } from './stored-data.ts';
import { UsedSecrets } from './used-secrets.ts';

const key = { owner: 'ann', executionId: 'e1' };
const ann: Principal = { id: 'ann', kind: 'agent', permissions: ALL_PERMISSIONS };

test('a Wait that a restart comes upon takes what is left of it, and one that is over takes no time', async () => {
  const { clock, process } = await startedExecution();
  const before = waited((await process()).wait('w', 60_000, 'd'));
  await clock.advance(20_000);
  const after = waited((await process()).wait('w', 60_000, 'd'));
  await clock.advance(39_999);
  expect([before.isOver, after.isOver]).toEqual([false, false]);
  await clock.advance(1);
  expect([before.isOver, after.isOver]).toEqual([true, true]);
  await (await process()).wait('w', 60_000, 'd');
});

test('a clock that was set back does not extend the wait', async () => {
  const { clock, process } = await startedExecution();
  waited((await process()).wait('w', 60_000, 'd'));
  await clock.advance(1);
  const behind = new TestClock('2026-03-28T10:00:00.000Z');
  const again = waited((await process(behind)).wait('w', 60_000, 'd'));
  await behind.advance(60_000);
  expect(again.isOver).toBe(true);
});

/** An execution, and the processes it runs in one after the other. */
async function startedExecution() {
  const all = rememberingHolds(memoryStore());
  const { executions: store } = all;
  await store.accept({ ...key, digest: 'd', idempotencyKey: null, request: '{}', acceptedAt: 1, end: null });
  const clock = new TestClock();
  const process = async (given = clock) => {
    const journal = new EffectJournal({
      key,
      hold: async () => heldOf(all, key),
      store,
      recorded: await store.effects(key),
    });
    const context = { principal: ann, signal: new Ending(), deadline: Number.POSITIVE_INFINITY, hops: 0 };
    // Nothing is called or stored here.
    const unused = {
      calls: {} as ApiCalls,
      storedData: {} as StoredData,
      askTarget: () => Promise.reject(new Error('unused')),
      askPerson: {} as AskPerson,
      secrets: new UsedSecrets(() => undefined),
    };
    return new JournaledEffects({ journal, context, clock: given, ...unused });
  };
  return { clock, process };
}

function waited(waiting: Promise<void>): { isOver: boolean } {
  const state = { isOver: false };
  waiting.then(() => {
    state.isOver = true;
  });
  return state;
}
