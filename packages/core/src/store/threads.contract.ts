import { describe, expect, test } from 'vitest';
import { heldOf } from '../../test-support/held-runs.ts';
import { type OpenStore, sharedStore } from '../../test-support/shared-store.ts';
import { frame, requestRow } from './requests.contract.ts';
import type { Letter, NewDelivery, Store, ThreadMessage } from './store.ts';

/** The contract of every store for threads. `open` returns a fresh, empty one. */
export function describeThreads(name: string, open: OpenStore): void {
  describe(`the threads of ${name}`, () => {
    let store: Store;
    let owner = '';
    const shared = sharedStore(open, (given, mine) => {
      store = given;
      owner = mine;
    });

    const letter = (fields: Partial<Letter> = {}): Letter => ({
      owner,
      requestId: 'msg_1',
      agentId: 'echo',
      threadId: 't',
      acceptedAt: 1000,
      ...fields,
    });
    const message = (messageId: string, fields: Partial<ThreadMessage> = {}): ThreadMessage => ({
      messageId,
      isAnswer: false,
      text: `{"id":"${messageId}"}`,
      at: 1000,
      ...fields,
    });
    const delivery = (): NewDelivery => ({
      id: `cb-${owner}`,
      owner,
      requestId: 'msg_1',
      messageId: 'msg_2',
      url: 'https://one.example/in',
      body: '{}',
      priority: 1,
      expiresAt: null,
      createdAt: 1000,
    });
    const settled = (messageId: string | null, withDelivery = false) => ({
      message: messageId === null ? null : message(messageId, { isAnswer: true }),
      delivery: withDelivery ? delivery() : null,
      keep: 100,
    });
    const idsIn = async (view: Parameters<typeof store.threads.page>[0], after = 0, limit = 100) =>
      (await store.threads.page(view, { after, limit, maxBytes: PLENTY })).rows.map(({ messageId }) => messageId);
    const pendingOf = async () => {
      expect((await store.threads.claim(1000)).filter((one) => one.owner === owner)).toEqual([]);
      await shared.restart();
      return (await store.threads.claim(1000)).filter((one) => one.owner === owner);
    };
    const ask = (requestId: string, fields: Partial<Letter> = {}, keep = 100, text = message(requestId).text) => {
      const { threadId, ...row } = letter({ requestId, ...fields });
      const thread = threadId === null ? null : { threadId, text, keep };
      return store.requests.accept(requestRow(row), { letter: { thread } });
    };

    test('a letter waits for its answer, and then both are in the thread and the callback in the outbox', async () => {
      expect(await ask('msg_1')).toMatchObject({ repeat: false });
      expect(await pendingOf()).toEqual([letter()]);
      expect(await store.threads.settle(letter(), settled('msg_2', true))).toBe(true);
      expect(await pendingOf()).toEqual([]);
      expect(
        (await store.threads.page({ owner, threadId: 't' }, { after: 0, limit: 10, maxBytes: PLENTY })).rows,
      ).toEqual([
        { ...message('msg_1'), agentId: 'echo', sequence: 1 },
        { ...message('msg_2', { isAnswer: true }), agentId: 'echo', sequence: 2 },
      ]);
      expect((await store.outbox.find(`cb-${owner}`))?.state).toBe('due');
    });

    test('threads are listed by their ids, for their owner and for their agents', async () => {
      const agentId = `agent-${owner}`;
      await ask('m1', { threadId: 'b', acceptedAt: 1000 });
      await ask('m2', { threadId: 'a', acceptedAt: 2000, agentId });
      await ask('m3', { threadId: 'a', acceptedAt: 3000, agentId });
      await ask('m4', { threadId: 'c', acceptedAt: 4000, agentId });
      await ask('m5', { threadId: null });
      await ask('m6', { threadId: 'a', acceptedAt: 5000 });
      const a = { owner, threadId: 'a', agentId: 'echo', messages: 3, lastAt: 5000 };
      const b = { owner, threadId: 'b', agentId: 'echo', messages: 1, lastAt: 1000 };
      const c = { owner, threadId: 'c', agentId, messages: 1, lastAt: 4000 };
      expect(await store.threads.list({ owner }, { after: '', limit: 2 })).toEqual([a, b]);
      expect(await store.threads.list({ owner }, { after: 'b', limit: 2 })).toEqual([c]);
      expect(await store.threads.list({ agentId }, { after: '', limit: 9 })).toEqual([
        { ...a, agentId, messages: 2, lastAt: 3000 },
        c,
      ]);
      expect(await store.threads.list({ owner: `not ${owner}` }, { after: '', limit: 9 })).toEqual([]);
    });

    test('a request that is recorded with its answer has its letter too', async () => {
      const beside = { letter: { thread: { threadId: 't', text: message('msg_1').text, keep: 100 } } };
      const { threadId: _, ...row } = letter();
      await store.requests.acceptAnswered(requestRow(row), [frame(0, { isFinal: true })], beside);
      expect(await pendingOf()).toEqual([letter()]);
      expect(await idsIn({ owner, threadId: 't' })).toEqual(['msg_1']);
    });

    test('a request and its letter are recorded together or not at all', async () => {
      await expect(ask('msg_1', {}, 100, 'a\0b')).rejects.toThrow('NUL');
      expect(await store.requests.find(letter())).toBeUndefined();
      expect(await pendingOf()).toEqual([]);
      expect(await ask('msg_1')).toMatchObject({ repeat: false });
      expect(await idsIn({ owner, threadId: 't' })).toEqual(['msg_1']);
    });

    test('a letter that waits for its answer has more messages in its thread, each once and with its callback', async () => {
      await ask('msg_1');
      const addition = { message: message('q_1', { isAnswer: true }), delivery: delivery(), keep: 100 };
      expect(await store.threads.add(letter(), addition)).toBe(true);
      expect(await store.threads.add(letter(), addition)).toBe(false);
      expect(await pendingOf()).toEqual([letter()]);
      await store.threads.settle(letter(), settled('msg_2'));
      expect(await store.threads.add(letter(), { ...addition, message: message('q_2'), delivery: null })).toBe(false);
      expect(await idsIn({ owner, threadId: 't' })).toEqual(['msg_1', 'q_1', 'msg_2']);
      expect(await store.outbox.answering(letter())).toHaveLength(1);
    });

    test('a letter without a thread has its callback once', async () => {
      await ask('msg_1', { threadId: null });
      const addition = { message: message('q_1'), delivery: delivery(), keep: 100 };
      expect(await store.threads.add(letter(), addition)).toBe(true);
      expect(await store.threads.add(letter(), addition)).toBe(false);
    });

    test('settling twice does it once', async () => {
      await ask('msg_1');
      await store.threads.settle(letter(), settled('msg_2'));
      expect(await store.threads.settle(letter(), settled('msg_3', true))).toBe(false);
      expect(await idsIn({ owner, threadId: 't' })).toEqual(['msg_1', 'msg_2']);
      expect(await store.outbox.find(`cb-${owner}`)).toBeUndefined();
    });

    test('a repeat has no letter of its own and leaves everything as it is', async () => {
      await ask('msg_1');
      expect(await ask('msg_1', { threadId: 'u' })).toMatchObject({ repeat: true });
      expect(await pendingOf()).toEqual([letter()]);
      await store.threads.settle(letter(), settled('msg_2'));
      expect(await ask('msg_1')).toMatchObject({ repeat: true });
      expect(await pendingOf()).toEqual([]);
      expect(await idsIn({ owner, threadId: 't' })).toEqual(['msg_1', 'msg_2']);
      expect(await idsIn({ owner, threadId: 'u' })).toEqual([]);
    });

    test('a dropped letter is gone with its message', async () => {
      await ask('msg_1');
      await store.threads.drop(letter());
      expect(await pendingOf()).toEqual([]);
      expect(await idsIn({ owner, threadId: 't' })).toEqual([]);
    });

    test('unsettled letters are claimed oldest first', async () => {
      for (const [requestId, acceptedAt] of [['late', 3000] as const, ['early', 1000] as const]) {
        await ask(requestId, { acceptedAt });
      }
      expect((await pendingOf()).map(({ requestId }) => requestId)).toEqual(['early', 'late']);
    });

    test('a letter without a thread has only its callback', async () => {
      await ask('msg_1', { threadId: null });
      expect(await pendingOf()).toEqual([letter({ threadId: null })]);
      await store.threads.settle(letter(), settled(null, true));
      expect((await store.outbox.find(`cb-${owner}`))?.state).toBe('due');
    });

    test('pages continue where the last one ended', async () => {
      for (let number = 1; number <= 5; number += 1) await ask(`m${number}`);
      const first = await store.threads.page({ owner, threadId: 't' }, { after: 0, limit: 2, maxBytes: PLENTY });
      expect([first.rows.map(({ sequence }) => sequence), first.more]).toEqual([[1, 2], true]);
      const last = await store.threads.page({ owner, threadId: 't' }, { after: 3, limit: 2, maxBytes: PLENTY });
      expect([last.rows.map(({ messageId }) => messageId), last.more]).toEqual([['m4', 'm5'], false]);
    });

    test('a thread keeps its newest messages, and their numbers', async () => {
      for (let number = 1; number <= 5; number += 1) await ask(`m${number}`, {}, 3);
      const { rows } = await store.threads.page({ owner, threadId: 't' }, { after: 0, limit: 10, maxBytes: PLENTY });
      expect(rows.map(({ messageId, sequence }) => [messageId, sequence])).toEqual([
        ['m3', 3],
        ['m4', 4],
        ['m5', 5],
      ]);
    });

    test('two owners with one thread id have two threads', async () => {
      await ask('mine');
      await ask('theirs', { owner: `not-${owner}` });
      expect(await idsIn({ owner, threadId: 't' })).toEqual(['mine']);
      expect(await store.threads.has(owner, 't', 'mine')).toBe(true);
      expect(await store.threads.has(owner, 't', 'theirs')).toBe(false);
      expect(await store.threads.has(owner, 'u', 'mine')).toBe(false);
    });

    test('a question is found by its time', async () => {
      await ask('m1', { acceptedAt: 1000 });
      await ask('m2', { acceptedAt: 2000 });
      await ask('m3', { acceptedAt: 2000, agentId: 'other' });
      await ask('elsewhere', { acceptedAt: 2000, threadId: 'u' });
      await store.threads.settle(letter({ requestId: 'm1' }), {
        ...settled(null),
        message: message('answer', { isAnswer: true, at: 2000 }),
      });
      expect((await store.threads.requestIdsAt(owner, 't', 2000)).sort()).toEqual(['m2', 'm3']);
      expect(await store.threads.requestIdsAt(`not-${owner}`, 't', 2000)).toEqual([]);
    });

    test('an agent sees what it had a part in, of the owner who wrote last', async () => {
      const threadId = `t-${owner}`;
      await ask('m1', { threadId });
      await ask('m2', { threadId, agentId: 'other' });
      await ask('m3', { threadId, owner: `late-${owner}`, acceptedAt: 2000 });
      expect(await idsIn({ agentId: 'echo', threadId })).toEqual(['m3']);
      expect(await idsIn({ agentId: 'other', threadId })).toEqual(['m2']);
      expect(await idsIn({ agentId: 'unknown', threadId })).toEqual([]);
      expect(await idsIn({ owner, threadId })).toEqual(['m1', 'm2']);
    });

    test('a page ends before it is too large, and has one message at least', async () => {
      for (const [index, size] of [10, 20, 500, 10].entries()) await ask(`m${index}`, {}, 100, 'é'.repeat(size / 2));
      const view = { owner, threadId: 't' };
      const page = async (after: number, maxBytes: number, limit = 9) => {
        const { rows, more } = await store.threads.page(view, { after, limit, maxBytes });
        return [rows.map(({ sequence, text }) => [sequence, Buffer.byteLength(text)]), more];
      };
      expect(await page(0, 30)).toEqual([
        [
          [1, 10],
          [2, 20],
        ],
        true,
      ]);
      expect(await page(0, 29)).toEqual([[[1, 10]], true]);
      expect(await page(2, 30)).toEqual([[[3, 500]], true]);
      expect(await page(3, 0)).toEqual([[[4, 10]], false]);
      expect(await page(1, 30, 1)).toEqual([[[2, 20]], true]);
      const ofAgent = { agentId: 'echo', threadId: `of-${owner}` };
      for (const id of ['a1', 'a2']) await ask(id, { threadId: ofAgent.threadId }, 100, 'x'.repeat(40));
      expect(await store.threads.page(ofAgent, { after: 0, limit: 9, maxBytes: 30 })).toMatchObject({
        rows: [{ messageId: 'a1', text: 'x'.repeat(40) }],
        more: true,
      });
    });

    describe('the messages before a message', () => {
      const messagesBefore = async (before: string, { limit = 100, maxBytes = PLENTY } = {}) => {
        const key = { owner, agentId: 'echo', sessionId: 't' };
        return (await store.threads.latest(key, { before, limit, maxBytes })).map(({ messageId }) => messageId);
      };
      test('are the newest ones, oldest first, of this agent only', async () => {
        for (const id of ['m1', 'm2', 'm3', 'm4']) await ask(id);
        await ask('to-another', { agentId: 'other' });
        await ask('now');
        expect(await messagesBefore('now', { limit: 2 })).toEqual(['m3', 'm4']);
        expect(await messagesBefore('m3')).toEqual(['m1', 'm2']);
      });

      test('include earlier answers, and no later ones', async () => {
        for (const id of ['m1', 'm2']) await ask(id);
        await store.threads.settle(letter({ requestId: 'm2' }), settled('to-m2'));
        for (const id of ['now', 'm3']) await ask(id);
        await store.threads.settle(letter({ requestId: 'm1' }), settled('to-m1'));
        expect(await messagesBefore('now')).toEqual(['m1', 'm2', 'to-m2']);
      });

      test('is all there is while the message is not recorded yet, and nothing once the thread has forgotten it', async () => {
        for (const id of ['m1', 'm2']) await ask(id);
        expect(await messagesBefore('not-yet')).toEqual(['m1', 'm2']);
        await ask('m3', {}, 1);
        expect(await messagesBefore('m2')).toEqual([]);
        expect(await idsIn({ owner, threadId: 't' })).toEqual(['m3']);
      });

      test('is all of it also where its id was another message’s before, whose request is forgotten', async () => {
        await ask('daily');
        await store.requests.append(heldOf(store, { owner, requestId: 'daily' }), [frame(0, { isFinal: true })]);
        await store.threads.settle(letter({ requestId: 'daily' }), settled('to-daily'));
        await store.requests.purge(5000);
        await ask('m1', { acceptedAt: 6000 });
        expect(await messagesBefore('daily')).toEqual(['daily', 'to-daily', 'm1']);
        expect(await ask('daily', { acceptedAt: 7000 })).toMatchObject({ repeat: false });
        await ask('m2', { acceptedAt: 8000 });
        expect(await messagesBefore('daily')).toEqual(['daily', 'to-daily', 'm1']);
      });

      test('ends where it is too large', async () => {
        for (const [index, size] of [10, 500, 20, 10].entries()) await ask(`m${index}`, {}, 100, 'x'.repeat(size));
        await ask('now');
        expect(await messagesBefore('now', { maxBytes: 30 })).toEqual(['m2', 'm3']);
        expect(await messagesBefore('now', { maxBytes: 29 })).toEqual(['m3']);
        expect(await messagesBefore('m2', { maxBytes: 400 })).toEqual([]);
      });
    });

    test('requests are found by the beginning of their owners, two at most', async () => {
      const names = ['Zoe', '\u{1f600}', 'Ann'].map((word) => `anonymous ${owner} ${word}`);
      for (const name of names) await store.requests.accept(requestRow({ owner: name, requestId: 'r' }));
      expect(await store.threads.sentBy(`anonymous ${owner} `, 'r')).toHaveLength(2);
      for (const [at, word] of ['Z', '\u{1f600}'].entries())
        expect(await store.threads.sentBy(`anonymous ${owner} ${word}`, 'r')).toEqual([
          { owner: names[at], requestId: 'r' },
        ]);
      expect(await store.threads.sentBy(`anonymous ${owner}0 `, 'r')).toEqual([]);
      expect(await store.threads.sentBy(`${owner} `, 'r')).toEqual([]);
      expect(await store.threads.sentBy(`anonymous ${owner} `, 'other')).toEqual([]);
    });

    test('messages of an agent are deleted with the session, except unanswered ones', async () => {
      const key = { owner, agentId: 'echo', sessionId: 't' };
      const has = () => idsIn({ owner, threadId: 't' });
      for (const id of ['m1', 'm2']) await ask(id);
      await ask('to-another', { agentId: 'other' });
      await ask('elsewhere', { threadId: 'u' });
      await store.threads.settle(letter({ requestId: 'm1' }), settled('to-m1'));
      expect(await store.sessions.delete({ ...key, owner: `not-${owner}` })).toBe(false);
      expect(await store.sessions.delete({ ...key, agentId: 'unknown' })).toBe(false);
      expect(await has()).toEqual(['m1', 'm2', 'to-another', 'to-m1']);
      // These have no session, like a thread whose requests were deleted.
      expect(await store.sessions.delete(key)).toBe(true);
      expect(await has()).toEqual(['m2', 'to-another']);
      expect(await store.sessions.delete(key)).toBe(false);
      await store.threads.settle(letter({ requestId: 'm2' }), settled('to-m2'));
      expect(await has()).toEqual(['m2', 'to-another', 'to-m2']);
      expect(await idsIn({ owner, threadId: 'u' })).toEqual(['elsewhere']);
    });

    test('old messages are forgotten', async () => {
      await ask('old', { acceptedAt: 1 });
      await ask('just kept', { acceptedAt: 2 });
      await ask('new', { acceptedAt: 500_000 });
      expect(await store.threads.purge({ messages: 2, counts: 0 })).toBe(1);
      expect(await idsIn({ owner, threadId: 't' })).toEqual(['just kept', 'new']);
    });

    describe('a number of a thread is used once, so that readers who continue after it miss nothing:', () => {
      const numbers = async () =>
        (await store.threads.page({ owner, threadId: 't' }, ALL)).rows.map(({ sequence }) => sequence);
      const exchange = async (requestId: string, fields: Partial<Letter> = {}) => {
        await ask(requestId, fields);
        const answer = { isAnswer: true, text: JSON.stringify({ replyTo: requestId }), at: fields.acceptedAt ?? 1000 };
        await store.threads.settle(letter({ requestId, ...fields }), {
          ...{ message: message(`to-${requestId}`, answer), delivery: null, keep: 100 },
        });
      };
      const forget = (agentId: string) => store.sessions.delete({ owner, agentId, sessionId: 't' });

      test('when all messages are deleted with their session', async () => {
        await exchange('m1');
        await forget('echo');
        await exchange('m2');
        expect(await numbers()).toEqual([3, 4]);
        for (let time = 0; time < 2; time += 1) await forget('echo');
        await exchange('m3');
        expect(await numbers()).toEqual([5, 6]);
      });

      test('when the last messages are, and not those of another agent', async () => {
        await exchange('m1');
        await exchange('m2', { agentId: 'other' });
        await forget('other');
        await ask('m3');
        expect(await numbers()).toEqual([1, 2, 5]);
      });

      test('when hundreds were', async () => {
        const ids = Array.from({ length: 250 }, (_, index) => `m${index}`);
        await Promise.all(ids.map((id) => ask(id, {}, 1000)));
        await Promise.all(ids.map((requestId) => store.threads.settle(letter({ requestId }), settled(null))));
        await forget('echo');
        await ask('next');
        expect(await numbers()).toEqual([251]);
      });

      test('when a letter is dropped', async () => {
        await exchange('m1');
        await ask('m2');
        await store.threads.drop(letter({ requestId: 'm2' }));
        await ask('m3');
        expect(await numbers()).toEqual([1, 2, 4]);
      });

      test('when an operator forgets the last request', async () => {
        await exchange('m1');
        await exchange('m2');
        await store.requests.append(heldOf(store, letter({ requestId: 'm2' })), [frame(0, { isFinal: true })]);
        expect(await store.forgetting.request(letter({ requestId: 'm2' }))).toBe('removed');
        await ask('m3');
        expect(await numbers()).toEqual([1, 2, 5]);
      });

      test('when its messages are too old, as long as its count is kept', async () => {
        await exchange('m1', { acceptedAt: 1 });
        await exchange('other', { acceptedAt: 1, threadId: 'u' });
        await ask('young', { threadId: 'u' });
        await store.threads.purge({ messages: 2, counts: 1 });
        await exchange('m2', { acceptedAt: 2 });
        expect(await numbers()).toEqual([3, 4]);
        await store.threads.purge({ messages: 3, counts: 3 });
        await exchange('m3', { acceptedAt: 4 });
        expect(await numbers()).toEqual([1, 2]);
        await ask('younger', { threadId: 'u' });
        const { rows } = await store.threads.page({ owner, threadId: 'u' }, ALL);
        expect(rows.map(({ sequence }) => sequence)).toEqual([3, 4]);
      });
    });

    test('with everything of an owner it is forgotten how far its threads had counted', async () => {
      await ask('m1');
      await store.threads.settle(letter({ requestId: 'm1' }), settled(null));
      await store.sessions.delete({ owner, agentId: 'echo', sessionId: 't' });
      await store.forgetting.caller(owner);
      await ask('m2');
      const { rows } = await store.threads.page({ owner, threadId: 't' }, ALL);
      expect(rows.map(({ sequence }) => sequence)).toEqual([1]);
    });
  });
}

const PLENTY = 1 << 20;
const ALL = { after: 0, limit: 1000, maxBytes: PLENTY };
