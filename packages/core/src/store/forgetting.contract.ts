import { describe, expect, test } from 'vitest';
import { heldOf } from '../../test-support/held-runs.ts';
import { type OpenStore, sharedStore } from '../../test-support/shared-store.ts';
import { END, effect, executionRow, storedRow } from './executions.contract.ts';
import { ALL, frame, requestRow } from './requests.contract.ts';
import type { ExecutionRow, RequestRow, Store } from './store.ts';

/** The contract of every store for forgetting. `open` returns a fresh, empty one. */
export function describeForgetting(name: string, open: OpenStore): void {
  describe(`forgetting in ${name}`, () => {
    let store: Store;
    let owner = '';
    sharedStore(open, (given, mine) => {
      store = given;
      owner = mine;
    });

    const request = (fields: Partial<RequestRow> = {}) => requestRow({ owner, ...fields });
    const execution = (fields: Partial<ExecutionRow> = {}) => executionRow({ owner, ...fields });

    test('a finished request goes with its frames; its id can be used again', async () => {
      const row = request({ idempotencyKey: 'k' });
      await store.requests.accept(row);
      await store.requests.append(heldOf(store, row), [frame(0)]);
      expect(await store.forgetting.request(row)).toBe('under_way');
      await store.requests.append(heldOf(store, row), [frame(1, { isFinal: true })]);
      expect(await store.forgetting.request({ ...row, owner: 'somebody' })).toBe('absent');
      expect(await store.forgetting.request(row)).toBe('removed');
      expect([await store.requests.find(row), await store.requests.frames(row, ALL)]).toEqual([undefined, []]);
      expect(await store.forgetting.request(row)).toBe('absent');
      expect(await store.requests.accept({ ...row, envelope: '{"other":1}' })).toMatchObject({ repeat: false });
    });

    describe('a request of a thread with a callback', () => {
      const thread = async () =>
        (await store.threads.page({ owner, threadId: 't' }, { after: 0, limit: 9, maxBytes: 1 << 20 })).rows.map(
          (row) => row.messageId,
        );
      const answered = async (requestId: string, messageId: string) => {
        const key = { owner, requestId };
        const letter = { thread: { threadId: 't', text: '{}', keep: 10 } };
        await store.requests.accept(request({ requestId, sessionId: 't' }), { letter });
        await store.requests.append(heldOf(store, key), [frame(0, { isFinal: true })]);
        const message = { messageId, isAnswer: true, text: JSON.stringify({ replyTo: requestId }), at: 2 };
        const delivery = { ...DELIVERY, owner, requestId, id: `${owner}-${requestId}` };
        return { key, settle: () => store.threads.settle(key, { message, delivery, keep: 10 }), id: delivery.id };
      };

      test('is under way until its answer has reached all who are owed it, and then goes from everywhere', async () => {
        await (await answered('other', 'other-answer')).settle();
        const { key, settle, id } = await answered('m1', 'm1-answer');
        expect(await store.forgetting.request(key)).toBe('under_way');
        await settle();
        expect(await store.forgetting.request(key)).toBe('under_way');
        await store.outbox.delivered([id], 3);
        expect(await store.forgetting.request({ ...key, owner: 'somebody' })).toBe('absent');
        expect(await store.forgetting.request(key)).toBe('removed');
        expect([await store.requests.find(key), await store.outbox.find(id)]).toEqual([undefined, undefined]);
        expect(await thread()).toEqual(['other', 'other-answer']);
        expect(await store.outbox.find(`${owner}-other`)).toBeDefined();
        expect(await store.forgetting.request(key)).toBe('absent');
      });

      test('goes from the thread also when the request itself was forgotten before', async () => {
        const { key, settle, id } = await answered('m1', 'm1-answer');
        await settle();
        await store.outbox.delivered([id], 3);
        await store.requests.purge(1e15);
        expect(await store.requests.find(key)).toBeUndefined();
        expect(await store.forgetting.request(key)).toBe('removed');
        expect(await thread()).toEqual([]);
      });
    });

    test('an execution goes with its effects once it has ended', async () => {
      const row = execution({ idempotencyKey: 'k' });
      await store.executions.accept(row);
      await store.executions.append(heldOf(store, row), [effect(0)]);
      expect(await store.forgetting.execution(row)).toBe('under_way');
      await store.executions.finish(heldOf(store, row), [], END);
      expect(await store.forgetting.execution({ ...row, owner: 'somebody' })).toBe('absent');
      expect(await store.forgetting.execution(row)).toBe('removed');
      expect([await store.executions.find(row), await store.executions.effects(row)]).toEqual([undefined, []]);
      expect(await store.executions.accept({ ...row, digest: 'other' })).toMatchObject({ repeat: false });
    });

    test("everything of a caller goes but what is under way, and nothing of anybody else's", async () => {
      for (const who of [owner, `${owner}-other`]) await fill(who);
      expect(await store.forgetting.caller(owner)).toEqual({
        requests: 1,
        sessions: 1,
        executions: 1,
        storedKeys: 2,
        threadMessages: 1,
        callbacks: 2,
        memories: 1,
        underWay: 3,
        files: [`${owner}/f`],
      });
      expect(await left(owner)).toEqual({ requests: 1, sessions: 0, executions: 1, names: 0, thread: 0, memories: 0 });
      expect(await left(`${owner}-other`)).toEqual({
        requests: 2,
        sessions: 1,
        executions: 2,
        names: 2,
        thread: 1,
        memories: 1,
      });
      for (const [who, isGone] of [[owner, false] as const, [`${owner}-other`, true] as const]) {
        expect(await store.outbox.isDisabled(who, GONE_URL)).toBe(isGone);
      }
      const again = await store.forgetting.caller(owner);
      expect(again).toMatchObject({ requests: 0, executions: 0, storedKeys: 0, underWay: 3, files: [] });
    });

    /** Records for each kind one record that has ended and one that is open. */
    async function fill(who: string): Promise<void> {
      const [ended, running] = [
        request({ owner: who, requestId: 'ended', sessionId: 's' }),
        request({ owner: who, requestId: 'running', sessionId: 's' }),
      ];
      await store.requests.accept(ended);
      await store.requests.accept(running, { letter: { thread: { threadId: 't', text: '{}', keep: 10 } } });
      await store.requests.append(heldOf(store, ended), [frame(0, { isFinal: true })]);
      const [done, going] = [
        execution({ owner: who, executionId: 'done' }),
        execution({ owner: who, executionId: 'going' }),
      ];
      for (const row of [done, going]) await store.executions.accept(row);
      await store.storedData.keep(storedRow({ owner: who }), PLENTY, {
        held: heldOf(store, done),
        effects: [effect(0)],
      });
      const file = storedRow({ owner: who, name: 'f', value: null, file: `${who}/f` });
      await store.storedData.keep(file, PLENTY, { held: heldOf(store, done), effects: [effect(1)] });
      await store.executions.finish(heldOf(store, done), [], END);
      for (const id of ['sent', 'due']) await store.outbox.add({ ...DELIVERY, owner: who, id: `${who}-${id}` });
      await store.outbox.add({ ...DELIVERY, owner: who, id: `${who}-gone`, url: GONE_URL });
      await store.outbox.gone(`${who}-gone`, { at: 2, reason: 'HTTP 410' });
      await store.outbox.delivered([`${who}-sent`], 2);
      const quota = { entries: 9, size: 99, spaces: 1 };
      await store.memories.open({ memoryId: 'm', owner: who, namespace: 'n', scope: '{}', createdAt: 1 }, quota);
      const entry = { space: who, key: 'k', owner: who, entry: '1', createdAt: 1, updatedAt: 1, expiresAt: null };
      await store.memories.put(entry, quota);
    }

    async function left(who: string) {
      const found = await Promise.all(
        ['ended', 'running'].map((requestId) => store.requests.find({ owner: who, requestId })),
      );
      return {
        requests: found.filter((row) => row !== undefined).length,
        sessions: (await store.sessions.list(who, { offset: 0, limit: 9 })).total,
        executions: (await store.executions.list(who, { before: 1e9, limit: 9, status: null })).length,
        names: (await store.storedData.names(who)).length,
        thread: (await store.threads.page({ owner: who, threadId: 't' }, { after: 0, limit: 9, maxBytes: 1 << 20 }))
          .rows.length,
        memories: (await store.memories.list(who, 0)).length,
      };
    }
  });
}

const PLENTY = { bytes: 1000, count: 10 };
const GONE_URL = 'https://gone.example/in';
const DELIVERY = {
  requestId: 'm1',
  messageId: 'm2',
  url: 'https://one.example/in',
  body: '{}',
  priority: 1,
  expiresAt: null,
  createdAt: 1,
};
