import { expect, test } from 'vitest';
import { heldOf, rememberingHolds } from '../../test-support/held-runs.ts';
import { memoryStore } from '../../test-support/memory-store.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import { ALL_PERMISSIONS } from '../call/principal.ts';
import { Ending } from '../ending/ending.ts';
import type { ApiRequest } from '../workflow/effects.ts';
import type { ApiCalls } from './api-calls.ts';
import { EffectJournal } from './effect-journal.ts';
import { JournaledEffects } from './journaled-effects.ts';
import type { AskPerson } from './parked-execution.ts';
import type { StoredData } from './stored-data.ts';
import { UsedSecrets } from './used-secrets.ts';

// Effects at most once: whatever could be done twice is on the disk before it is done.

const key = { owner: 'ann', executionId: 'e1' };

test.each([
  ['POST', {}, ['now', 'intent']],
  ['PATCH', {}, ['now', 'intent']],
  ['POST', { idempotencyKey: 'k' }, ['now']],
  ['PUT', {}, ['now']],
  ['DELETE', {}, ['now']],
] as const)(
  '%s with %o leaves when what it was made from is on the disk, and not before',
  async (method, more, kinds) => {
    const { effects, journal, answer, sent, recorded } = await startedExecution();
    await effects.now('now', 'd0');
    const called = effects.call('call', request(method, more), 'd1');
    // As long as it likes: the disk does not answer.
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
    expect(sent).toEqual([]);
    answer();
    expect(await called).toMatchObject({ status: 200 });
    expect(sent).toEqual([{ method, recorded: kinds }]);
    await journal.flush();
    expect(await recorded()).toEqual([...kinds, 'call']);
  },
);

test('GET leaves at once', async () => {
  const { effects, sent } = await startedExecution();
  expect(await effects.call('call', request('GET'), 'd1')).toMatchObject({ status: 200 });
  expect(sent).toEqual([{ method: 'GET', recorded: [] }]);
});

test('a request about to be sent when the process ended is never sent again', async () => {
  const first = await startedExecution();
  first.answer();
  first.journal.add({ kind: 'intent', key: 'call', note: { digest: 'd1' } });
  await first.journal.flush();
  for (let run = 0; run < 2; run++) {
    const { effects, sent, journal } = await startedExecution(first.store);
    await expect(effects.call('call', request('POST'), 'd1')).rejects.toMatchObject({
      failure: { code: 'interrupted', details: { outcome: 'unknown' } },
    });
    expect(sent).toEqual([]);
    await journal.flush();
  }
});

test('a record of another computation is neither used nor repeated', async () => {
  const first = await startedExecution();
  first.answer();
  await first.effects.call('call', request('POST'), 'd1');
  await first.effects.now('now', 'd1');
  await first.journal.flush();
  const { effects, sent } = await startedExecution(first.store);
  const misfit = {
    failure: { code: 'internal', message: expect.stringContaining('do not match the resumed execution') },
  };
  await expect(effects.call('call', request('POST'), 'd2')).rejects.toMatchObject(misfit);
  await expect(effects.now('now', 'd2')).rejects.toMatchObject(misfit);
  expect(sent).toEqual([]);
});

/** An execution on a disk that records nothing until it answers. */
async function startedExecution(store = rememberingHolds(memoryStore())) {
  const { executions } = store;
  await executions.accept({ ...key, digest: 'd', idempotencyKey: null, request: '{}', acceptedAt: 1, end: null });
  const held = heldOf(store, key);
  const earlier = await executions.effects(key);
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  if (earlier.length > 0) answer();
  const waiting: typeof executions = {
    ...executions,
    append: (...values) => answered.then(() => executions.append(...values)),
  };
  const recorded = async () => (await executions.effects(key)).map(({ kind }) => kind);
  const sent: object[] = [];
  const calls = {
    labelsOf: () => undefined,
    call: async ({ method }: ApiRequest) => {
      sent.push({ method, recorded: await recorded() });
      return { status: 200, contentType: null, bytes: new Uint8Array(0) };
    },
  } as unknown as ApiCalls;
  const journal = new EffectJournal({ key, hold: async () => held, store: waiting, recorded: earlier });
  const effects = new JournaledEffects({
    secrets: new UsedSecrets(() => undefined),
    journal,
    calls,
    storedData: {} as StoredData,
    askTarget: noTarget,
    askPerson: {} as AskPerson,
    context: {
      principal: { id: 'ann', kind: 'agent', permissions: ALL_PERMISSIONS },
      signal: new Ending(),
      deadline: 1000,
      hops: 0,
    },
    clock: new TestClock(),
  });
  return { store, journal, effects, answer, sent, recorded };
}

function request(method: ApiRequest['method'], more: Partial<ApiRequest> = {}): ApiRequest {
  return {
    operationId: 'call',
    method,
    url: 'https://api.example/things',
    query: [],
    headers: {},
    body: undefined,
    idempotencyKey: undefined,
    timeoutMs: 1000,
    carries: [],
    ...more,
  };
}

const noTarget = () => Promise.reject(new Error('no target is called here'));
