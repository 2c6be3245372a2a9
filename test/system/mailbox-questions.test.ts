import { afterAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { call } from './call.ts';
import { isSigned, Receiver } from './receiver.ts';
import { moduleAgent, System } from './system.ts';
import { TestAuthority } from './test-authority.ts';

const authority = new TestAuthority();
const receiver = await Receiver.start(authority.issue(['IP:127.0.0.1']));
const system = await System.start({
  config: {
    default_agent: 'asker',
    agents: { asker: moduleAgent('asker') },
    mailbox: {
      anonymous: ['asker'],
      requests_per_minute: 10_000,
      answer_within_ms: 1500,
      callbacks: { backoff_ms: 20 },
    },
    gate: { callbacks: [receiver.hostPort], ca: [authority.path] },
  },
});
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  authority[Symbol.dispose]();
});
const mine = await system.caller('my-agent', { permissions: { agents: ['*'] } });
const other = await system.caller('other-agent', { permissions: { agents: ['*'] } });
const asker = await system.caller('asker', { permissions: { agents: ['*'], operations: ['questions.answer'] } });
const { webhook_secret: secret } = mine as unknown as { webhook_secret: string };

let count = 0;
function named(what: string): string {
  count += 1;
  return `${what}-${count}`;
}

interface Sent {
  readonly content?: JsonObject | string;
  readonly metadata?: JsonObject;
  readonly key?: string | undefined;
  readonly from?: JsonObject;
}

async function post({ content = 'go', metadata = {}, key = mine.api_key, from = {} }: Sent) {
  const json = {
    version: '0.3.0',
    from: { name: 'my-agent', ...from },
    message: { contentType: typeof content === 'string' ? 'text/plain' : 'application/json', content },
    metadata: { messageId: named('m'), ...metadata },
  };
  const answer = await call(system.url, { method: 'POST', path: '/a2a', json, key });
  return { status: answer.status, body: (await answer.json()) as Answer };
}

interface Answer extends JsonObject {
  messageId: string;
  replyTo: string;
  message: { content: JsonObject & string };
  metadata: JsonObject & { question: JsonObject };
}

const answerTo = async (messageId: string) =>
  (await (await call(system.url, { path: `/a2a/messages/${messageId}`, key: mine.api_key })).json()) as Answer;

const inThread = async (threadId: string) => {
  const read = await call(system.url, { path: `/a2a/threads/${threadId}`, key: mine.api_key });
  return ((await read.json()) as { messages: Answer[] }).messages;
};

const open = async () => {
  const listed = await call(system.url, { path: '/e2a/questions', key: mine.api_key });
  return ((await listed.json()) as { questions: JsonObject[] }).questions;
};

const FORM = {
  question: {
    kind: 'form',
    title: 'Where to?',
    schema: { type: 'object', properties: { city: { type: 'string' }, zip: { type: 'integer' } }, required: ['city'] },
  },
};

describe('a question in the mailbox', () => {
  test('is the answer to the waiting sender, and is in the thread; a reply there answers it, by id or name', async () => {
    for (const text of ['allow', 'Allow', '1']) {
      const threadId = named('th');
      const { body: pending } = await post({ metadata: { threadId, messageId: `${threadId}-m` } });
      expect(pending).toMatchObject({
        replyTo: `${threadId}-m`,
        threadId,
        from: { name: 'Dragoman' },
        metadata: { status: 'input_required', question: { question_id: pending.messageId, title: 'May I?' } },
      });
      expect(pending.message.content).toBe(
        `May I?\n1. Allow (allow)\n2. Reject (reject)\nAnswer with one of: allow, reject.\nReply to this message: "replyTo": "${pending.messageId}".`,
      );
      const { body: taken } = await post({ content: text, metadata: { threadId, replyTo: pending.messageId } });
      expect(taken.message.content).toMatchObject({
        question_id: pending.messageId,
        answer: { option_id: 'allow', by: 'my-agent', channel: 'a2a-mailbox' },
      });
      await expect.poll(async () => (await inThread(threadId)).length).toBe(5);
      const thread = await inThread(threadId);
      expect(thread.map(({ metadata }) => metadata['status'] ?? 'open').sort()).toEqual([
        'input_required',
        'open',
        'open',
        'success',
        'success',
      ]);
      expect((await answerTo(`${threadId}-m`)).message.content).toMatchObject({ answer: { option_id: 'allow' } });
    }
  });

  test('of a message without a thread is read where its answer will be, and a JSON reply fills its form', async () => {
    const messageId = named('plain');
    const { body: pending } = await post({ content: FORM, metadata: { messageId } });
    expect(pending.message.content).toContain('Answer with a JSON object that has city, zip');
    expect(await answerTo(messageId)).toMatchObject({
      messageId: pending.messageId,
      metadata: { status: 'input_required' },
    });
    const wrong = await post({ content: { city: 'Bern', zip: 'many' }, metadata: { replyTo: pending.messageId } });
    expect(wrong.body).toMatchObject({
      metadata: { status: 'error' },
      message: { content: { code: 'E2A.INVALID_MESSAGE' } },
    });
    expect(wrong.body.message.content['error']).toContain('zip must be an integer; got "many"');
    const { body: taken } = await post({ content: { city: 'Bern' }, metadata: { replyTo: pending.messageId } });
    expect(taken.metadata['status']).toBe('success');
    await expect
      .poll(async () => (await answerTo(messageId)).message.content)
      .toMatchObject({
        answer: { action: 'accept', content: { city: 'Bern' } },
      });
  });

  test('stays open after an invalid reply, whose error lists the valid ones', async () => {
    const threadId = named('th');
    const { body: pending } = await post({ metadata: { threadId } });
    const { body: reply } = await post({ content: 'maybe', metadata: { threadId, replyTo: pending.messageId } });
    expect(reply.metadata['status']).toBe('error');
    expect(reply.message.content['error']).toBe(
      '"maybe" does not answer the question. Answer with one of: allow, reject.',
    );
    expect((await open()).map((one) => one['question_id'])).toContain(pending.messageId);
    const metadata = { threadId, replyTo: pending.messageId, messageId: named('reply') };
    const first = await post({ content: 'reject', metadata });
    const repeat = await post({ content: 'reject', metadata });
    expect(repeat.body).toEqual(first.body);
    const late = await post({ content: 'allow', metadata: { threadId, replyTo: pending.messageId } });
    expect(late.body.message.content['code']).toMatch(/E2A\.(CONFLICT|NOT_FOUND)/);
  });

  test('can be answered by no other caller, and never by the agent that asks', async () => {
    const { body: pending } = await post({});
    for (const [key, code] of [
      [other.api_key, 'E2A.NOT_FOUND'],
      [asker.api_key, 'E2A.FORBIDDEN'],
    ] as const) {
      const { body } = await post({ content: 'allow', key, metadata: { replyTo: pending.messageId } });
      expect(body.message.content['code']).toBe(code);
    }
    const keyless = await call(system.url, {
      method: 'POST',
      path: '/a2a',
      json: { from: 'my-agent', message: 'allow', metadata: { replyTo: pending.messageId } },
    });
    expect(JSON.stringify(await keyless.json())).not.toContain('channel');
    expect((await open()).map((one) => one['question_id'])).toContain(pending.messageId);
    await post({ content: 'reject', metadata: { replyTo: pending.messageId } });
  });

  test('is sent to the callback, and so is its end when it is answered elsewhere', async () => {
    const [threadId, messageId] = [named('th'), named('called')];
    const from = { callbackUrl: receiver.url(`/${messageId}`) };
    await post({ from, metadata: { threadId, messageId } });
    const reply = async (number: number) => {
      const mine = () => receiver.received.filter(({ path }) => path === `/${messageId}`);
      await expect.poll(() => mine().length).toBeGreaterThanOrEqual(number);
      const callback = mine()[number - 1];
      expect(callback && isSigned(callback, { secret })).toBe(true);
      return JSON.parse(callback?.body ?? '') as Answer;
    };
    const pending = await reply(1);
    expect(pending).toMatchObject({ replyTo: messageId, metadata: { status: 'input_required' } });
    const path = `/e2a/requests/${messageId}/questions/${pending.messageId}`;
    await call(system.url, { method: 'POST', path, key: mine.api_key, json: { option_id: 'allow' } });
    const rest = [await reply(2), await reply(3)];
    expect(rest.map(({ metadata }) => metadata['status']).sort()).toEqual(['answered', 'success']);
    expect(rest.find(({ replyTo }) => replyTo === pending.messageId)?.message.content).toBe('Answered: allow.');
    expect((await inThread(threadId)).map(({ metadata }) => metadata['status'])).toEqual([
      undefined,
      'input_required',
      'answered',
      'success',
    ]);
  });

  test('of a request that is cancelled, and one whose time is over, is withdrawn in the thread', async () => {
    const [cancelled, expired] = [named('th'), named('th')];
    const { body } = await post({ metadata: { threadId: cancelled } });
    await call(system.url, {
      method: 'POST',
      path: `/e2a/requests/${body.replyTo}/cancel`,
      key: mine.api_key,
    });
    const question = { kind: 'permission', title: 'Quick?', expires_in_ms: 100 };
    await post({ content: { question }, metadata: { threadId: expired } });
    await expect
      .poll(async () => (await inThread(cancelled)).map(({ metadata }) => metadata['status']))
      .toEqual([undefined, 'input_required', 'withdrawn', 'error']);
    await expect.poll(async () => (await inThread(expired)).length).toBe(4);
    expect((await inThread(expired))[2]).toMatchObject({
      metadata: { status: 'expired' },
      message: { content: 'The time to answer has run out: reject.' },
    });
  });

  test('is not shown to a sender without a key, who could not answer it', async () => {
    const question = { kind: 'permission', title: 'Anyone?', expires_in_ms: 100 };
    const answer = await call(system.url, {
      method: 'POST',
      path: '/a2a',
      json: { from: 'nobody', message: { contentType: 'application/json', content: { question } } },
    });
    expect(await answer.json()).toMatchObject({ metadata: { status: 'success' } });
  });
});

describe('a response posted to /a2a', () => {
  const response = (replyTo: string, fields: JsonObject = {}) => ({
    version: '0.3.0',
    messageId: named('r'),
    timestamp: new Date().toISOString(),
    replyTo,
    threadId: null,
    from: { name: 'my-agent', agentId: null },
    to: { name: 'asker', agentId: null, callbackUrl: null },
    message: { contentType: 'text/plain', content: 'allow' },
    metadata: { status: 'success', taskType: null, processingTime: null },
    ...fields,
  });
  const send = (json: JsonObject) => call(system.url, { method: 'POST', path: '/a2a', json, key: mine.api_key });

  test('is accepted as the answer to a question of this server', async () => {
    const { body: pending } = await post({});
    const taken = await send(response(pending.messageId));
    expect(taken.status).toBe(200);
    expect(await taken.json()).toMatchObject({ message: { content: { answer: { option_id: 'allow' } } } });
  });

  test('that reports an error declines the question', async () => {
    const { body: pending } = await post({});
    const metadata = { status: 'error', taskType: null, processingTime: null };
    const message = { contentType: 'application/json', content: { error: 'nobody is here', code: 'X' } };
    const taken = await send(response(pending.messageId, { metadata, message }));
    expect(await taken.json()).toMatchObject({ message: { content: { answer: { action: 'decline' } } } });
  });

  test('is refused when it replies to nothing that was sent from here, or only acknowledges', async () => {
    const stray = await send(response('m-77'));
    expect(stray.status).toBe(400);
    expect(JSON.stringify(await stray.json())).toContain('got a response that replies to \\"m-77\\"');
    const { body: pending } = await post({});
    const metadata = { status: 'received', taskType: null, processingTime: null };
    const acknowledged = await send(response(pending.messageId, { metadata }));
    expect(JSON.stringify(await acknowledged.json())).toContain('got an acknowledgement');
    await post({ content: 'reject', metadata: { replyTo: pending.messageId } });
  });
});
