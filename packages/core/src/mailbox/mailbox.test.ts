import { type Json, newEnvelope } from '@dragoman/protocols';
import { isMailboxMessage, type MailboxMessage, mailboxDialect } from '@dragoman/protocols/a2a-mailbox';
import { afterAll, describe, expect, test } from 'vitest';
import { memoryStore, nextProcess } from '../../test-support/memory-store.ts';
import { SilentLog } from '../../test-support/silent-log.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import { TestIds } from '../../test-support/test-ids.ts';
import { type ModuleAgentFunction, moduleAgent } from '../agents/module-agent.ts';
import { ALL_PERMISSIONS, type Principal } from '../call/principal.ts';
import { Engine } from '../engine/engine.ts';
import { type GateOptions, openGate } from '../gate/network-gate.ts';
import { Outbox } from '../outbox/outbox.ts';
import { SigningKeys } from '../outbox/signing-keys.ts';
import { Signatures } from '../signing/signatures.ts';
import { openInMemory } from '../store/sqlite-database.ts';
import { loadEngine } from '../store/sqlite-engine.ts';
import type { Store } from '../store/store.ts';
import { StoreError } from '../store/store-error.ts';
import { anonymousOwner, anonymousPrincipal } from './anonymous.ts';
import { AnonymousQuota } from './anonymous-quota.ts';
import { CallbackLimits } from './callback-limits.ts';
import { type Addressee, Directory } from './directory.ts';
import { MailboxService } from './mailbox.ts';

const signatures = new Signatures();
afterAll(() => signatures[Symbol.asyncDispose]());

const clock = new TestClock();
const ids = new TestIds();
const log = new SilentLog();
const ANN = { id: 'ann', kind: 'agent', permissions: ALL_PERMISSIONS } as const;
const CALLED_BACK = { name: 'Ann', callbackUrl: 'https://away.example/in' };

test('a message that cannot be recorded is refused, and is accepted when it is sent again', async () => {
  const full = new StoreError('store_unavailable', 'The disk is full.');
  const store = memoryStore();
  const { accept } = store.requests;
  let refusals = 0;
  Object.assign(store.requests, {
    accept: async (...request: Parameters<typeof accept>) => {
      refusals += 1;
      if (refusals === 1) throw full;
      return accept(...request);
    },
  });
  const { mailbox, engine } = mailboxOn(store, echo, { resolve: failing('EAI_AGAIN') });
  const given = message('hello', { messageId: 'm-1', threadId: 'th_1' }, CALLED_BACK);
  await expect(mailbox.receive(given, { principal: ANN })).rejects.toBe(full);
  expect(await store.requests.find({ owner: ANN.id, requestId: 'm-1' })).toBeUndefined();
  expect((await mailbox.receive(given, { principal: ANN })).metadata.status).toBe('received');
  await mailbox.stop();
  const { rows } = await store.threads.page(
    { owner: ANN.id, threadId: 'th_1' },
    { after: 0, limit: 9, maxBytes: 1 << 20 },
  );
  expect(rows.map(({ isAnswer }) => isAnswer)).toEqual([false, true]);
  expect(await store.outbox.answering({ owner: ANN.id, requestId: 'm-1' })).toHaveLength(1);
  await engine.stop({ drainMs: 0 });
});

test('a message whose answer takes its time is acknowledged, but never before it is recorded', async () => {
  const store = memoryStore();
  const { accept } = store.requests;
  const [landed, finished] = [deferred(), deferred()];
  Object.assign(store.requests, {
    accept: async (...request: Parameters<typeof accept>) => {
      await landed.promise;
      return accept(...request);
    },
  });
  const { mailbox, engine } = mailboxOn(store, async function* () {
    await finished.promise;
    return null;
  });
  let received: unknown;
  const receiving = mailbox.receive(message('hello'), { principal: ANN }).then((response) => {
    received = response;
  });
  clock.pass(5000);
  await new Promise(setImmediate);
  expect(received).toBeUndefined();
  landed.resolve();
  await receiving;
  expect(received).toMatchObject({ metadata: { status: 'received' } });
  finished.resolve();
  await mailbox.stop();
  await engine.stop({ drainMs: 0 });
});

test.each([
  ['a plain message', {}],
  ['one of a thread', { threadId: 'th_1' }],
])('a message that waits for its agent when the server stops is acknowledged: %s', async (_, metadata) => {
  const store = memoryStore();
  const { mailbox, engine } = mailboxOn(store);
  engine.addAgent(
    moduleAgent('echo', async function* (_envelope, call) {
      await new Promise((_resolve, reject) => call.signal.addEventListener('abort', () => reject(call.signal.reason)));
    }),
    { maxParallel: 1 },
  );
  const [working, waiting] = ['m-1', 'm-2'].map((messageId) =>
    mailbox.receive(message('hello', { messageId, ...metadata }), { principal: ANN }),
  );
  await new Promise(setImmediate);
  await engine.runs.table.drain(0);
  expect(await working).toMatchObject({ message: { content: { code: 'E2A.INTERRUPTED' } } });
  const { replyTo, metadata: acknowledged } = (await waiting) ?? {};
  expect(acknowledged?.status).toBe('received');
  expect(await store.requests.find({ owner: ANN.id, requestId: replyTo ?? '' })).toMatchObject({ state: 'accepted' });
  await mailbox.stop();
  await engine.stop({ drainMs: 0 });
});

test('an unknown replyTo is reported without a thread as well', async () => {
  const { mailbox, engine } = mailboxOn(memoryStore());
  const answer = await mailbox.receive(message('hello', { replyTo: 'msg_unknown' }), { principal: ANN });
  expect(answer.metadata['warnings']).toEqual([
    'replyTo: msg_unknown is kept; only a message with threadId replies to another',
  ]);
  await mailbox.stop();
  await engine.stop({ drainMs: 0 });
});

test('a repeat gets the first answer, even if its thread no longer has the message it replied to', async () => {
  const { mailbox, engine } = mailboxOn(memoryStore());
  const send = (text: string, metadata: object) =>
    mailbox.receive(message(text, { threadId: 'th_1', ...metadata }), { principal: ANN });
  await send('first', { messageId: 'm-first' });
  const answer = await send('a reply', { messageId: 'm-reply', replyTo: 'm-first' });
  for (let number = 0; number < 10; number += 1) await send('more', { messageId: `m-${number}` });
  expect(await send('late', { messageId: 'm-late', replyTo: 'm-first' })).toMatchObject({
    metadata: { warnings: ['replyTo: there is no message m-first in thread th_1'] },
  });
  expect(await send('a reply', { messageId: 'm-reply', replyTo: 'm-first' })).toEqual(answer);
  await mailbox.stop();
  await engine.stop({ drainMs: 0 });
});

test.each([
  ['a plain message', {}],
  ['one of a thread', { threadId: 'th_1' }],
])('a repeat gets the first answer, even if the configuration now names another agent: %s', async (_, metadata) => {
  const store = memoryStore();
  let addressees: Addressee[] = [{ id: 'echo', name: 'Ann' }];
  const identity = { name: 'Desk', agentId: null };
  const before = mailboxOn(store, echo, {}, new Directory({ identity, addressees: () => addressees }));
  const agentId = 'eip155:8453:0x8004A169FB4a3325136EB29fA0ceB6D2e539a432:12';
  const renamed = new Directory({ identity: { name: 'Bureau', agentId }, addressees: () => addressees });
  const after = { mailbox: before.again(renamed) };
  const send = ({ mailbox }: { mailbox: MailboxService }, to: string | null) =>
    mailbox.receive(message('hello', { messageId: `m-${to}`, taskType: 'greet', ...metadata }, { name: 'Bob' }, to), {
      principal: ANN,
    });
  const answers = [await send(before, null), await send(before, 'Ann')];
  before.engine.addAgent(moduleAgent('other', echo));
  addressees = [
    { id: 'other', skills: ['greet'] },
    { id: 'echo', name: 'Ann', agentId },
  ];
  expect([await send(after, null), await send(after, 'Ann')]).toEqual(answers);
  const elsewhere = after.mailbox.receive(
    message('hello', { messageId: 'm-Ann', taskType: 'greet', ...metadata }, { name: 'Bob' }, 'other'),
    { principal: ANN },
  );
  await expect(elsewhere).rejects.toThrow('This id was already used with a different body.');
  for (const one of [before, after]) await one.mailbox.stop();
  await before.engine.stop({ drainMs: 0 });
});

describe.each([
  ['a plain message', {}],
  ['one of a thread', { threadId: 'th_1' }],
])('a repeat gets the first answer after its agent was removed: %s', (_, metadata) => {
  const agentId = 'eip155:8453:0x8004A169FB4a3325136EB29fA0ceB6D2e539a432:12';
  const desk = { id: 'desk', name: 'Front Desk', agentId };
  const mayAsk = (agents: readonly string[]) => ({ ...ANN, permissions: { ...ALL_PERMISSIONS, agents } });

  /** A mailbox whose agent has answered and disconnected. */
  async function answered(to: To) {
    let addressees: Addressee[] = [desk];
    const directory = new Directory({ identity: { name: 'Tee', agentId: null }, addressees: () => addressees });
    const { mailbox, engine } = mailboxOn(memoryStore(), echo, {}, directory);
    engine.addAgent(moduleAgent('desk', echo));
    engine.router.defaultAgent = 'desk';
    const send = (text: string, principal: Principal = mayAsk(['desk']), messageId = 'm-1') =>
      mailbox.receive(message(text, { messageId, ...metadata }, { name: 'Ann' }, to), { principal });
    const answer = await send('hello');
    addressees = [];
    engine.retireAgent('desk');
    engine.router.defaultAgent = undefined;
    const close = async () => {
      await mailbox.stop();
      await engine.stop({ drainMs: 0 });
    };
    return { answer, send, close };
  }

  test.each([
    ['by its id', 'desk'],
    ['by its name', 'Front Desk'],
    ['by its agentId', { agentId }],
    ['as the default one', null],
  ])('addressed %s', async (_how, to) => {
    const { answer, send, close } = await answered(to);
    expect(await send('hello')).toEqual(answer);
    await expect(send('another')).rejects.toMatchObject({ failure: { code: 'conflict' } });
    await close();
  });

  test.each([
    ['by its id', 'desk'],
    ['by its name', 'Front Desk'],
    ['as the default one', null],
  ])('but not for a sender that may no longer ask that agent, addressed %s', async (_how, to) => {
    const { send, close } = await answered(to);
    await expect(send('hello', mayAsk(['other']))).rejects.toMatchObject({ failure: { code: 'forbidden' } });
    await close();
  });

  test('and a message that is not a repeat is refused with no_route', async () => {
    const { send, close } = await answered('Front Desk');
    await expect(send('hello', ANN, 'm-2')).rejects.toMatchObject({ failure: { code: 'no_route' } });
    await expect(send('hello', { ...ANN, id: 'bob' })).rejects.toMatchObject({ failure: { code: 'no_route' } });
    await close();
  });
});

test('a repeat that replied to an acknowledgement gets the first answer', async () => {
  const { mailbox, engine } = mailboxOn(memoryStore(), echo, { resolve: failing('EAI_AGAIN') });
  const send = (text: string, metadata: object, from?: typeof CALLED_BACK) =>
    mailbox.receive(message(text, { threadId: 'th_1', ...metadata }, from), { principal: ANN });
  const { messageId: acknowledgement, metadata } = await send('first', { messageId: 'm-first' }, CALLED_BACK);
  expect(metadata.status).toBe('received');
  const reply = { messageId: 'm-reply', replyTo: acknowledgement };
  const answer = await send('a reply', reply);
  for (let number = 0; number < 10; number += 1) await send('more', { messageId: `m-${number}` });
  expect(await send('a reply', reply)).toEqual(answer);
  const late = await send('late', { messageId: 'm-late', replyTo: acknowledgement });
  expect(late.metadata['warnings']).toHaveLength(1);
  expect(await send('late', { messageId: 'm-late', replyTo: acknowledgement })).toEqual(late);
  await mailbox.stop();
  await engine.stop({ drainMs: 0 });
});

test('a sender without a key cannot join a session whose id equals its thread id', async () => {
  const store = memoryStore();
  const sessionIds: unknown[] = [];
  const { mailbox, engine } = mailboxOn(store, async function* ({ session_id: sessionId }) {
    sessionIds.push(sessionId);
    return { content: 'received' };
  });
  const anonymous = anonymousPrincipal(anonymousOwner('203.0.113.7', 'Ann'), ['*']);
  for (const principal of [anonymous, ANN]) {
    await mailbox.receive(message('hello', { messageId: 'm-1', threadId: 'talk' }), { principal });
  }
  expect(sessionIds).toEqual(['talk', 'talk']);
  // An unsolicited message of the agent is for the only participant.
  expect(await store.sessions.owners({ agentId: 'echo', sessionId: 'talk' })).toEqual([ANN.id]);
  await mailbox.stop();
  await engine.stop({ drainMs: 0 });
});

test('the same name without a key at another address is another sender, and does not find the messages of the first', async () => {
  const { mailbox, engine } = mailboxOn(memoryStore());
  const send = (addressGroup: string, text: string) => {
    const principal = anonymousPrincipal(anonymousOwner(addressGroup, 'Ann'), ['*']);
    return mailbox.receive(message(text, { messageId: 'm-1' }), { principal });
  };
  const [here, there] = ['203.0.113.7', '203.0.113.70'];
  await send(here, 'hello');
  for (const from of [undefined, 'Ann']) {
    const found = mailbox.findAnonymous('m-1', { addressGroup: there, from });
    await expect(found).rejects.toThrow('Message not found.');
  }
  // No repeat, and so no conflict.
  expect((await send(there, 'another body')).message.content).toBe('another body');
  expect((await mailbox.findAnonymous('m-1', { addressGroup: here })).message.content).toBe('hello');
  await mailbox.stop();
  await engine.stop({ drainMs: 0 });
});

test('the history of a message has the earlier messages with their answers, and no later message', async () => {
  const { mailbox, engine } = mailboxOn(memoryStore());
  const first = deferred();
  const histories: Json[] = [];
  const single: ModuleAgentFunction = async function* ({ params: { content }, channel_context: { history } }, call) {
    if (content === 'one') await first.promise;
    histories.push((history as { content: Json }[]).map((turn) => turn.content));
    expect(await call.history?.()).toEqual(history);
    return { content: `got ${content}` };
  };
  engine.addAgent(moduleAgent('echo', single), { maxParallel: 1 });
  const send = (text: string) =>
    mailbox.receive(message(text, { threadId: 'th_1', messageId: `m-${text}` }), { principal: ANN });
  const all = ['one', 'two', 'three'].map(send);
  await new Promise(setImmediate);
  first.resolve();
  await Promise.all(all);
  await send('four');
  const turns = ['one', 'got one', 'two', 'got two', 'three', 'got three'];
  expect(histories).toEqual([[], turns.slice(0, 2), turns.slice(0, 4), turns]);
  await mailbox.stop();
  await engine.stop({ drainMs: 0 });
});

test('a thread and an E2A session of the same id, caller and agent are one conversation', async () => {
  const store = memoryStore();
  const { mailbox, engine } = mailboxOn(store);
  const histories: Json[] = [];
  const listening: ModuleAgentFunction = async function* ({ params: { content } }, call) {
    histories.push(((await call.history?.()) ?? []).map((turn) => turn.content));
    return { content: `got ${content}` };
  };
  engine.addAgent(moduleAgent('echo', listening));
  const post = (text: string) => {
    clock.pass(1000);
    return mailbox.receive(message(text, { threadId: 'th_1', messageId: `m-${text}` }), { principal: ANN });
  };
  const ask = async (content: string, principal: Principal = ANN) => {
    clock.pass(1000);
    const [method, request_id] = ['chat.send', `r-${content}`];
    const envelope = newEnvelope({
      request_id,
      session_id: 'th_1',
      method,
      params: { content },
      agent_ref: { id: 'echo' },
    });
    const call = { principal, signal: new AbortController().signal, log };
    for await (const frame of engine.handle(envelope, call)) expect(frame.status).not.toBe('failed');
  };
  await post('one');
  await ask('two');
  await post('three');
  await ask('other', { ...ANN, id: 'somebody-else' });
  const turns = ['one', 'got one', 'two', 'got two'];
  expect(histories).toEqual([[], turns.slice(0, 2), turns, []]);
  // A thread keeps its messages when the journal has forgotten their requests.
  clock.pass(1000);
  await store.requests.purge(clock.now().getTime());
  await ask('four');
  await post('five');
  expect(histories.slice(4)).toEqual([
    ['one', 'got one', 'three', 'got three'],
    ['one', 'got one', 'three', 'got three', 'four', 'got four'],
  ]);
  await mailbox.stop();
  await engine.stop({ drainMs: 0 });
});

test('a thread of long answers is read in pages of some megabytes, and its history leaves them out', async () => {
  const { mailbox, engine } = mailboxOn(memoryStore(), async function* ({ params, channel_context }) {
    if (params['content'] === 'long') return 'x'.repeat(1_500_000);
    return { history: channel_context['history'] ?? null };
  });
  const send = (text: string, messageId: string) =>
    mailbox.receive(message(text, { threadId: 'th_1', messageId }), { principal: ANN });
  for (const id of ['m-1', 'm-2', 'm-3']) await send('long', id);
  const pages: number[][] = [];
  for (let after = 0, isMore = true; isMore; ) {
    const { rows, more } = await mailbox.thread('th_1', ANN, { after, limit: 50 });
    pages.push(rows.map(({ sequence }) => sequence));
    [after, isMore] = [rows.at(-1)?.sequence ?? 0, more];
  }
  expect(pages).toEqual([[1, 2, 3], [4, 5], [6]]);
  expect(await mailbox.thread('th_1', ANN, { after: 6, limit: 50 })).toMatchObject({ rows: [], more: false });
  await expect(mailbox.thread('th_2', ANN, { after: 6, limit: 50 })).rejects.toThrow('Thread not found');
  expect((await send('what was said?', 'm-4')).message.content).toEqual({ history: [] });
  await mailbox.stop();
  await engine.stop({ drainMs: 0 });
});

test('a callback carries the answer to the receiver’s address, with the priority and expiry that the sender set', async () => {
  const store = memoryStore();
  const { mailbox, engine } = mailboxOn(store, echo, { resolve: failing('EAI_AGAIN') });
  const expiresAt = new Date(clock.now().getTime() + 60_000);
  const from = { name: 'Ann', callbackUrl: 'https://Away.example:443/a/../in' };
  const metadata = { messageId: 'm-1', priority: 'urgent', expiresAt: expiresAt.toISOString() };
  await mailbox.receive(message('hello', metadata, from), { principal: ANN });
  await mailbox.stop();
  const answer = await mailbox.find('m-1', ANN.id);
  expect(answer.message.content).toBe('hello');
  expect(await store.outbox.answering({ owner: ANN.id, requestId: 'm-1' })).toMatchObject([
    {
      messageId: answer.messageId,
      body: JSON.stringify(answer),
      url: 'https://away.example/in',
      priority: 0,
      expiresAt: expiresAt.getTime(),
    },
  ]);
  await engine.stop({ drainMs: 0 });
});

test('a repeat owes no callback of its own, and is acknowledged also where its URL could not be called any more', async () => {
  const store = memoryStore();
  let code = 'EAI_AGAIN';
  const { mailbox, engine } = mailboxOn(store, echo, { resolve: () => failing(code)() });
  const send = (messageId: string) => mailbox.receive(message('hello', { messageId }, CALLED_BACK), { principal: ANN });
  const first = await send('m-1');
  code = 'ENOTFOUND';
  await expect(send('m-2')).rejects.toThrow('callbackUrl cannot be called');
  expect(await send('m-1')).toEqual(first);
  await mailbox.stop();
  expect(await store.outbox.answering({ owner: ANN.id, requestId: 'm-1' })).toHaveLength(1);
  await engine.stop({ drainMs: 0 });
});

/** What a process leaves that ends before it has settled two answers, `bad` and `sound`. */
async function twoUnsettled() {
  const database = openInMemory(await loadEngine());
  const earlier = memoryStore(database);
  earlier.threads.settle = () => Promise.reject(new Error('the process ends before that'));
  const before = mailboxOn(earlier);
  const metadata = { threadId: 'th_1' };
  const sending = ['bad', 'sound'].map((messageId) =>
    before.mailbox.receive(message('hello', { messageId, ...metadata }), { principal: ANN }).catch(() => {}),
  );
  const stateOf = async (requestId: string) => (await earlier.requests.find({ owner: ANN.id, requestId }))?.state;
  const states = () => Promise.all([stateOf('bad'), stateOf('sound')]);
  await expect.poll(states).toEqual(['finished', 'finished']);
  await before.mailbox.stop();
  await Promise.all(sending);
  await before.engine.stop({ drainMs: 0 });
  return { database, store: nextProcess(earlier) };
}

test.each([
  ['that cannot be read', "UPDATE requests SET envelope = '[]' WHERE request_id = 'bad'"],
  [
    'whose answer cannot be read',
    "UPDATE frames SET text = '[]' WHERE request = (SELECT id FROM requests WHERE request_id = 'bad')",
  ],
])('after a restart a message %s is dropped, and the others get their answers', async (_, damage) => {
  const { database, store } = await twoUnsettled();
  database.exec(damage);
  const { mailbox, engine } = mailboxOn(store);
  await mailbox.start();
  const answered = async () => (await mailbox.thread('th_1', ANN, { after: 0, limit: 9 })).rows.map(({ text }) => text);
  await expect.poll(answered).toEqual([expect.stringContaining('sound'), expect.stringContaining('"replyTo":"sound"')]);
  await mailbox.stop();
  await engine.stop({ drainMs: 0 });
  expect(await nextProcess(store).threads.claim(10)).toEqual([]);
});

test('a message that cannot be continued keeps no other from its answer', async () => {
  const { store } = await twoUnsettled();
  const find = store.requests.find.bind(store.requests);
  store.requests.find = (key) => (key.requestId === 'bad' ? Promise.reject(new Error('a bug')) : find(key));
  const { mailbox, engine } = mailboxOn(store);
  await expect(mailbox.start()).rejects.toThrow('a bug');
  const answered = async () => (await mailbox.thread('th_1', ANN, { after: 0, limit: 9 })).rows.map(({ text }) => text);
  await expect.poll(answered).toContainEqual(expect.stringContaining('"replyTo":"sound"'));
  await mailbox.stop();
  await engine.stop({ drainMs: 0 });
});

test('the messages of a thread are deleted after the retention time', async () => {
  const { mailbox, engine } = mailboxOn(memoryStore());
  await mailbox.start();
  const page = { after: 0, limit: 50 };
  await mailbox.receive(message('hello', { threadId: 'th_1' }), { principal: ANN });
  expect((await mailbox.thread('th_1', ANN, page)).rows).toHaveLength(2);
  await expect
    .poll(async () => {
      clock.pass(3_600_000);
      return mailbox.thread('th_1', ANN, page).catch(String);
    })
    .toContain('Thread not found');
  await mailbox.stop();
  await engine.stop({ drainMs: 0 });
});

test('only its caller can read a request of another protocol', async () => {
  const { mailbox, engine } = mailboxOn(memoryStore());
  const envelope = newEnvelope({ request_id: 'r-1', method: 'chat.send', params: { content: 'hello' } });
  const call = { principal: ANN, signal: new AbortController().signal, log };
  for await (const frame of engine.handle(envelope, call)) expect(frame.status).not.toBe('failed');
  expect(await mailbox.find('r-1', ANN.id)).toMatchObject({ replyTo: 'r-1', metadata: { status: 'success' } });
  await expect(mailbox.find('r-1', 'bob')).rejects.toThrow('Message not found.');
  await mailbox.stop();
  await engine.stop({ drainMs: 0 });
});

describe('a callback to a name', () => {
  test('that cannot be looked up at the moment is owed, and looked up again at its try', async () => {
    const store = memoryStore();
    const { mailbox, engine } = mailboxOn(store, echo, { resolve: failing('EAI_AGAIN') });
    const answer = await mailbox.receive(message('hello', { messageId: 'm-1' }, CALLED_BACK), { principal: ANN });
    expect(answer.metadata.status).toBe('received');
    const key = { owner: ANN.id, requestId: 'm-1' };
    // The gate dawdles by the clock before it refuses.
    await expect
      .poll(async () => {
        clock.pass(50);
        return (await store.outbox.answering(key))[0];
      })
      .toMatchObject({ state: 'due', failures: [{ reason: 'The remote host is unreachable.' }] });
    await mailbox.stop();
    await engine.stop({ drainMs: 0 });
  });

  test('that does not exist is refused with the message', async () => {
    const { mailbox, engine } = mailboxOn(memoryStore(), echo, { resolve: failing('ENOTFOUND') });
    await expect(mailbox.receive(message('hello', {}, CALLED_BACK), { principal: ANN })).rejects.toThrow(
      'callbackUrl cannot be called: The remote host is unreachable',
    );
    await mailbox.stop();
    await engine.stop({ drainMs: 0 });
  });
});

describe('an agent that streams its whole answer', () => {
  test.each([
    ['at once', {}],
    ['in a thread', { threadId: 'th_1' }],
  ])('is answered in one piece: %s', async (_, metadata) => {
    const { mailbox, engine } = mailboxOn(memoryStore(), async function* () {
      yield 'one ';
      yield { delta_kind: 'reasoning', delta: 'not for the sender' };
      yield 'two';
    });
    const answer = await mailbox.receive(message('count', { messageId: 'm-1', ...metadata }), { principal: ANN });
    expect(answer.message).toEqual({ contentType: 'text/plain', content: 'one two' });
    expect(await mailbox.find('m-1', ANN.id)).toEqual(answer);
    await mailbox.stop();
    await engine.stop({ drainMs: 0 });
  });

  test('and also returns a result is answered with the result', async () => {
    const { mailbox, engine } = mailboxOn(memoryStore(), async function* () {
      yield 'thinking';
      return { content: 'two' };
    });
    const { message: received } = await mailbox.receive(message('count'), { principal: ANN });
    expect(received).toEqual({ contentType: 'text/plain', content: 'two' });
    await mailbox.stop();
    await engine.stop({ drainMs: 0 });
  });

  test.each<[string, ModuleAgentFunction]>([
    [
      'finds no end',
      async function* () {
        for (let number = 0; number < 11; number += 1) yield 'x'.repeat(1_000_000);
      },
    ],
    [
      'has a result as long',
      async function* () {
        yield 'thinking';
        return 'x'.repeat(11_000_000);
      },
    ],
    [
      'fails with as many words',
      async function* () {
        yield 'thinking';
        throw new Error('x'.repeat(11_000_000));
      },
    ],
  ])('and %s gets an error, not a truncated answer', async (_, agent) => {
    const { mailbox, engine } = mailboxOn(memoryStore(), agent);
    const { message: received, metadata } = await mailbox.receive(message('count'), { principal: ANN });
    expect([metadata.status, received.content]).toEqual([
      'error',
      { error: expect.stringContaining('10000000 characters'), code: 'E2A.AGENT_ERROR' },
    ]);
    await mailbox.stop();
    await engine.stop({ drainMs: 0 });
  });
});

function mailboxOn(
  store: Store,
  agent: ModuleAgentFunction = echo,
  way: Pick<GateOptions, 'resolve'> = {},
  directory = new Directory({ identity: { name: 'Desk', agentId: null }, addressees: () => [] }),
) {
  const engine = new Engine({ store, clock, ids, log, defaultAgent: 'echo' });
  engine.addAgent(moduleAgent('echo', agent));
  const gate = openGate({ clock, log, ...way });
  const keys = new SigningKeys({ store: store.outbox, signatures });
  const outbox = new Outbox({ store: store.outbox, gate, keys, clock, ids, log, isRegistered: () => true });
  const again = (changed: Directory) =>
    new MailboxService({
      ...{ engine, store, outbox, gate, clock, ids, log, directory: changed },
      callbackLimits: new CallbackLimits({ clock, settings: { queuedPerSender: 10, anonymousPerHost: 10 } }),
      anonymousQuota: new AnonymousQuota({
        store: store.anonymous,
        clock,
        purgeTime: engine.purgeTime,
        settings: { bytes: 1024 * 1024, keepMs: 3_600_000 },
      }),
      settings: { answerWithinMs: 1000, threadMessages: 10, keepThreadsMs: 1000, holdMs: 3_600_000 },
    });
  return { mailbox: again(directory), again, engine };
}

const echo: ModuleAgentFunction = async function* ({ params }) {
  return { content: params['content'] ?? null };
};

/** A lookup of names that does nothing but fail. */
function failing(code: string) {
  return () => Promise.reject(Object.assign(new Error('the lookup failed'), { code }));
}

function deferred() {
  let resolve = () => {};
  const promise = new Promise<void>((resolved) => {
    resolve = resolved;
  });
  return { promise, resolve };
}

type To = string | { readonly agentId: string } | null;

function message(text: string, metadata = {}, from = { name: 'Ann' }, to: To = null): MailboxMessage {
  const json = { version: '0.3.0', from, to, message: text, metadata };
  const decoded = mailboxDialect.decode(json, clock.now());
  if (!decoded.ok || !isMailboxMessage(decoded.value)) throw new Error('not a message');
  return decoded.value;
}
