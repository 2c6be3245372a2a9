import { describe, expect, test } from 'vitest';
import { sharedStore } from '../../test-support/shared-store.ts';
import { frame, requestRow } from './requests.contract.ts';
import type { Letter, NewDelivery, Store, ThreadMessage } from './store.ts';

/** What the threads of every store must do. `open` gives a fresh, empty one. */
export function describeThreads(name: string, open: () => Promise<Store>): void {
  describe(`the threads of ${name}`, () => {
    let store: Store;
    let owner = '';
    sharedStore(open, (given, mine) => {
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
      (await store.threads.page(view, { after, limit })).rows.map(({ messageId }) => messageId);
    const pendingOf = async () => (await store.threads.pending()).filter((one) => one.owner === owner);
    const ask = (requestId: string, fields: Partial<Letter> = {}, keep = 100, text = message(requestId).text) => {
      const { threadId, ...row } = letter({ requestId, ...fields });
      const thread = threadId === null ? null : { threadId, text, keep };
      return store.requests.accept(requestRow(row), { letter: { thread } });
    };

    test('a letter waits for its answer, and then both are in the thread and the callback in the outbox', async () => {
      expect(await ask('msg_1')).toEqual({ repeat: false });
      expect(await pendingOf()).toEqual([letter()]);
      expect(await store.threads.settle(letter(), settled('msg_2', true))).toBe(true);
      expect(await pendingOf()).toEqual([]);
      expect((await store.threads.page({ owner, threadId: 't' }, { after: 0, limit: 10 })).rows).toEqual([
        { ...message('msg_1'), agentId: 'echo', sequence: 1 },
        { ...message('msg_2', { isAnswer: true }), agentId: 'echo', sequence: 2 },
      ]);
      expect((await store.outbox.find(`cb-${owner}`))?.state).toBe('due');
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
      expect(await ask('msg_1')).toEqual({ repeat: false });
      expect(await idsIn({ owner, threadId: 't' })).toEqual(['msg_1']);
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

    test('a letter without a thread has only its callback', async () => {
      await ask('msg_1', { threadId: null });
      expect(await pendingOf()).toEqual([letter({ threadId: null })]);
      await store.threads.settle(letter(), settled(null, true));
      expect((await store.outbox.find(`cb-${owner}`))?.state).toBe('due');
    });

    test('pages go on where the last one ended', async () => {
      for (let number = 1; number <= 5; number += 1) await ask(`m${number}`);
      const first = await store.threads.page({ owner, threadId: 't' }, { after: 0, limit: 2 });
      expect([first.rows.map(({ sequence }) => sequence), first.more]).toEqual([[1, 2], true]);
      const last = await store.threads.page({ owner, threadId: 't' }, { after: 3, limit: 2 });
      expect([last.rows.map(({ messageId }) => messageId), last.more]).toEqual([['m4', 'm5'], false]);
    });

    test('a thread keeps its newest messages, and their numbers', async () => {
      for (let number = 1; number <= 5; number += 1) await ask(`m${number}`, {}, 3);
      const { rows } = await store.threads.page({ owner, threadId: 't' }, { after: 0, limit: 10 });
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

    test('a question is found by when it came', async () => {
      await ask('m1', { acceptedAt: 1000 });
      await ask('m2', { acceptedAt: 2000 });
      await ask('m3', { acceptedAt: 2000, agentId: 'other' });
      await ask('elsewhere', { acceptedAt: 2000, threadId: 'u' });
      await store.threads.settle(letter({ requestId: 'm1' }), {
        ...settled(null),
        message: message('answer', { isAnswer: true, at: 2000 }),
      });
      expect((await store.threads.askedAt(owner, 't', 2000)).sort()).toEqual(['m2', 'm3']);
      expect(await store.threads.askedAt(`not-${owner}`, 't', 2000)).toEqual([]);
    });

    test('an agent sees what it had a part in, of the owner who wrote last', async () => {
      const threadId = `t-${owner}`;
      await ask('m1', { threadId });
      await ask('m2', { threadId, agentId: 'other' });
      await ask('m3', { threadId, owner: `late-${owner}`, acceptedAt: 2000 });
      expect(await idsIn({ agentId: 'echo', threadId })).toEqual(['m3']);
      expect(await idsIn({ agentId: 'other', threadId })).toEqual(['m2']);
      expect(await idsIn({ agentId: 'nobody', threadId })).toEqual([]);
      expect(await idsIn({ owner, threadId })).toEqual(['m1', 'm2']);
    });

    test('the newest of a conversation come oldest first', async () => {
      for (const id of ['m1', 'm2', 'm3']) await ask(id);
      await ask('to-another', { agentId: 'other' });
      const rows = await store.threads.latest({ owner, agentId: 'echo', sessionId: 't' }, 2);
      expect(rows.map(({ messageId }) => messageId)).toEqual(['m2', 'm3']);
    });

    test('a request is found by the beginning of its owner, the newest first', async () => {
      const names = ['Zoe', '\u{1f600}'].map((word) => `anonymous ${owner} ${word}`);
      for (const name of names) await store.requests.accept(requestRow({ owner: name, requestId: 'r' }));
      expect(await store.threads.sentBy(`anonymous ${owner} `, 'r')).toEqual({ owner: names[1], requestId: 'r' });
      expect(await store.threads.sentBy(`anonymous ${owner} Z`, 'r')).toEqual({ owner: names[0], requestId: 'r' });
      expect(await store.threads.sentBy(`anonymous ${owner}0 `, 'r')).toBeUndefined();
      expect(await store.threads.sentBy(`anonymous ${owner} `, 'other')).toBeUndefined();
    });

    test('old messages are forgotten', async () => {
      await ask('old', { acceptedAt: 1 });
      await ask('new', { acceptedAt: 500_000 });
      expect(await store.threads.purge(2)).toBe(1);
      expect(await idsIn({ owner, threadId: 't' })).toEqual(['new']);
    });
  });
}
