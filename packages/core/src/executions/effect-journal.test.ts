import { expect, test } from 'vitest';
import { memoryStore } from '../../test-support/memory-store.ts';
import { EffectJournal } from './effect-journal.ts';

const key = { owner: 'ann', executionId: 'e1' };
const effect = (name: string) => ({ kind: 'call', key: name, note: {} }) as const;

async function startedExecution() {
  const { executions: store } = memoryStore();
  const row = { ...key, digest: 'd', idempotencyKey: null, request: '{}', acceptedAt: 1, end: null };
  const accepted = await store.accept(row);
  if (accepted.repeat || accepted.held === null) throw new Error('it is not held');
  const { held } = accepted;
  let appends = 0;
  const counting: typeof store = {
    ...store,
    append: (to, effects) => {
      appends += 1;
      return store.append(to, effects);
    },
  };
  return { store: counting, hold: async () => held, appends: () => appends };
}

test('nothing is written before it is needed, and then all of it at once', async () => {
  const { store, hold, appends } = await startedExecution();
  const journal = new EffectJournal({ key, hold, store });
  for (const name of ['a', 'b', 'c']) journal.add(effect(name));
  expect(appends()).toBe(0);
  await journal.flush();
  await journal.flush();
  expect(appends()).toBe(1);
  expect((await store.effects(key)).map(({ position, key: name }) => [position, name])).toEqual([
    [0, 'a'],
    [1, 'b'],
    [2, 'c'],
  ]);
});

test('effects that arrive during a write are part of the next write', async () => {
  const { store, hold, appends } = await startedExecution();
  const journal = new EffectJournal({ key, hold, store });
  journal.add(effect('a'));
  const first = journal.flush();
  journal.add(effect('b'));
  journal.add(effect('c'));
  await Promise.all([first, journal.flush()]);
  expect(appends()).toBe(2);
  expect(await store.effects(key)).toHaveLength(3);
});

test('records of an earlier process are found and continued', async () => {
  const { store, hold } = await startedExecution();
  const earlier = new EffectJournal({ key, hold, store });
  earlier.add(effect('a'));
  await earlier.flush();
  const journal = new EffectJournal({ key, hold, store, recorded: await store.effects(key) });
  expect(journal.find('call', 'a')).toMatchObject({ position: 0 });
  expect(journal.find('intent', 'a')).toBeUndefined();
  journal.add(effect('b'));
  await journal.flush();
  expect(await store.effects(key)).toHaveLength(2);
});

test('every flush after a failed write reports it, and nothing is written any more', async () => {
  const { store, hold, appends } = await startedExecution();
  await store.finish(await hold(), [], { status: 'error', result: '{}', events: '[]', endedAt: 2 });
  const journal = new EffectJournal({ key, hold, store });
  journal.add(effect('a'));
  journal.flushSoon();
  await expect(journal.flush()).rejects.toMatchObject({ code: 'not_held' });
  journal.add(effect('b'));
  await expect(journal.flush()).rejects.toMatchObject({ code: 'not_held' });
  await expect(journal.settle()).rejects.toMatchObject({ code: 'not_held' });
  expect(appends()).toBe(1);
});
