import { describe, expect, test } from 'vitest';
import { newEnvelope } from '../e2a/envelope.ts';
import { newResponse } from '../e2a/response.ts';
import * as validators from '../generated/a2a-mailbox.js';
import type { JsonObject } from '../json.ts';
import { mailboxDialect } from './dialect.ts';
import { mailboxToEnvelope } from './envelope.ts';
import { completed } from './message-id.ts';
import { acknowledgement, answerMessage, errorAnswer, mailboxFromResponse } from './response.ts';
import { normalise } from './shorthand.ts';

const ME = 'eip155:8453:0x8004A169FB4a3325136EB29fA0ceB6D2e539a432:12345';
const stamp = { id: 'fedcba98765432100123456789abcdef', now: new Date('2026-02-21T18:00:15.000Z') };
const from = { name: 'Dragoman', agentId: null };
const request = completed(
  normalise({
    from: { name: 'MyAgent', agentId: ME, callbackUrl: 'https://my-agent.com/a2a' },
    to: 'desk',
    message: 'Hello',
    metadata: { messageId: 'msg_custom_123', threadId: 'thread_1', taskType: 'greet' },
  }),
  { id: '0'.repeat(32), now: new Date('2026-02-21T18:00:00.000Z') },
);

describe('a response we build', () => {
  test('always has the full shape', () => {
    expect(answerMessage(request, { from, stamp, processingTime: 1500 }, { content: { result: 42 } })).toEqual({
      version: '0.3.0',
      messageId: 'msg_1771696815000_fedcba98',
      timestamp: '2026-02-21T18:00:15.000Z',
      replyTo: 'msg_custom_123',
      threadId: 'thread_1',
      from: { name: 'Dragoman', agentId: null },
      to: { name: 'MyAgent', agentId: ME, callbackUrl: 'https://my-agent.com/a2a' },
      message: { contentType: 'application/json', content: { result: 42 } },
      metadata: { status: 'success', taskType: 'greet', processingTime: 1500 },
    });
  });

  test('to acknowledge says so in an object that names the request', () => {
    expect(acknowledgement(request, { from, stamp })).toMatchObject({
      replyTo: 'msg_custom_123',
      message: { contentType: 'application/json', content: { status: 'received', messageId: 'msg_custom_123' } },
      metadata: { status: 'received', processingTime: null },
    });
  });

  test('of a text is plain text by default', () => {
    expect(answerMessage(request, { from, stamp }, { content: 'hi' }).message.contentType).toBe('text/plain');
    const markdown = { content: '# hi', contentType: 'text/markdown' } as const;
    expect(answerMessage(request, { from, stamp }, markdown).message).toEqual(markdown);
  });

  test('of failed work has content and names the failure', () => {
    expect(errorAnswer(request, { from, stamp }, { error: 'The desk is closed.', code: 'DESK_CLOSED' })).toMatchObject({
      message: { contentType: 'application/json', content: { error: 'The desk is closed.', code: 'DESK_CLOSED' } },
      metadata: { status: 'error', taskType: 'greet' },
    });
  });

  test('has the shape that is published', () => {
    const answering = { from, stamp };
    for (const response of [
      acknowledgement(request, answering),
      answerMessage(request, answering, { content: [] }),
      errorAnswer(request, answering, { error: 'a', code: 'B' }),
    ]) {
      expect(validators.Response(response), JSON.stringify(validators.Response.errors)).toBe(true);
    }
  });
});

describe('a frame sent to a mailbox', () => {
  const envelope = mailboxToEnvelope(request);
  const frame = (given: object) =>
    newResponse({
      response_id: '4f1d6a52-9d4e-4c5b-8a6f-2b7c3d1e0f9a',
      request_id: 'msg_custom_123',
      timestamp: '2026-02-21T18:00:15.000Z',
      is_final: true,
      status: 'succeeded',
      response_kind: 'e2a.complete',
      ...given,
    });
  const answerTo = (given: object) => mailboxFromResponse(frame(given), envelope)[0];
  const content = (result: unknown) => answerTo({ body: { result } })?.message;

  test('is a whole response to the sender, with its callback URL', () => {
    expect(answerTo({ body: { result: { content: 'done' } }, source_agent_id: 'desk-7' })).toEqual({
      version: '0.3.0',
      messageId: expect.stringMatching(/^msg_1771696815000_[0-9a-f]{8}$/),
      timestamp: '2026-02-21T18:00:15.000Z',
      replyTo: 'msg_custom_123',
      threadId: 'thread_1',
      from: { name: 'desk-7', agentId: null },
      to: { name: 'MyAgent', agentId: ME, callbackUrl: 'https://my-agent.com/a2a' },
      message: { contentType: 'text/plain', content: 'done' },
      metadata: { status: 'success', taskType: 'greet', processingTime: null },
    });
  });

  test('is the same message for a repeated frame, and another for another frame', () => {
    const body = { result: 'done' };
    expect(answerTo({ body })).toEqual(answerTo({ body }));
    expect(answerTo({ body, response_id: 'another' })?.messageId).not.toBe(answerTo({ body })?.messageId);
    expect(answerTo({ body, response_id: null, timestamp: null })?.messageId).toMatch(/^msg_0_[0-9a-f]{8}$/);
  });

  test('holds the result, or its content, as what it is', () => {
    expect(content('done')).toEqual({ contentType: 'text/plain', content: 'done' });
    expect(content({ content: 'done' })).toEqual({ contentType: 'text/plain', content: 'done' });
    expect(content({ content: { a: 1 } })).toEqual({ contentType: 'application/json', content: { a: 1 } });
    expect(content({ text: 'done' })).toEqual({ contentType: 'text/plain', content: 'done' });
    expect(content({ text: 'done', score: 7 })).toEqual({
      contentType: 'application/json',
      content: { text: 'done', score: 7 },
    });
    expect(content({ score: 7 })).toEqual({ contentType: 'application/json', content: { score: 7 } });
    expect(content(0)).toEqual({ contentType: 'application/json', content: 0 });
    expect(content({ content: '# hi', content_type: 'text/markdown' })).toMatchObject({ contentType: 'text/markdown' });
    expect(content({ content: { a: 1 }, content_type: 'text/plain' })).toMatchObject({
      contentType: 'application/json',
    });
    expect(content(undefined)).toEqual({ contentType: 'application/json', content: {} });
  });

  test('is nothing while the answer is still being made', () => {
    const chunk = { response_kind: 'e2a.chunk', status: 'in_progress', is_final: false, body: { delta: 'do' } };
    expect(answerTo(chunk)).toBeUndefined();
    expect(answerTo({ ...chunk, response_kind: 'acp.session_update' })).toBeUndefined();
  });

  test('of another kind is sent whole when it is the last', () => {
    expect(answerTo({ response_kind: 'a2a.task', body: { id: 't', state: 'completed' } })?.message.content).toEqual({
      id: 't',
      state: 'completed',
    });
  });

  test('of an error says so, with its text and code', () => {
    const body: JsonObject = { code: 'E2A.TIMEOUT', message: 'Too late.', details: { secret: 1 } };
    expect(answerTo({ response_kind: 'e2a.error', status: 'failed', body })).toMatchObject({
      message: { contentType: 'application/json', content: { error: 'Too late.', code: 'E2A.TIMEOUT' } },
      metadata: { status: 'error' },
    });
    expect(answerTo({ response_kind: 'ext', status: 'failed' })?.message.content).toEqual({
      error: 'The agent failed.',
      code: 'E2A.AGENT_ERROR',
    });
  });

  test('names the agent the message was for when the frame does not say who answers', () => {
    expect(answerTo({ body: { result: 'done' } })?.from.name).toBe('desk');
    const unaddressed = mailboxToEnvelope(normalise({ from: 'a', message: 'b' }));
    expect(mailboxFromResponse(frame({ body: { result: 'done' } }), unaddressed)[0]?.from.name).toBe('agent');
  });

  test('replies to what the request replied to when the request had no id', () => {
    const reply = mailboxToEnvelope(normalise({ from: 'a', message: 'b', metadata: { replyTo: 'msg_0' } }));
    expect(mailboxFromResponse(frame({}), reply)[0]?.replyTo).toBe('msg_0');
  });

  test('passes on the time the work took when the frame knows it', () => {
    expect(answerTo({ metadata: { processingTime: 12 } })?.metadata.processingTime).toBe(12);
    expect(answerTo({ metadata: { processingTime: -1 } })?.metadata.processingTime).toBeNull();
  });
});

test.each(['\n', 'x'.repeat(501), '', '\u0000'])(
  'an agent that calls itself %j answers under a name that can be read',
  (name) => {
    const frame = newResponse({
      source_agent_id: name,
      response_kind: 'e2a.complete',
      status: 'succeeded',
      is_final: true,
      body: { result: 'hello' },
    });
    const [answerTo] = mailboxFromResponse(frame, newEnvelope({ request_id: 'r' }));
    if (answerTo === undefined) expect.unreachable();
    expect(answerTo.from.name).toBe('agent');
    expect(mailboxDialect.decode(answerTo, new Date(0))).toMatchObject({ ok: true });
  },
);

test('an answer keeps what an agent returned beside its content, and beside the message of its error', () => {
  const answerTo = (given: Parameters<typeof newResponse>[0]) =>
    mailboxFromResponse(
      newResponse({ is_final: true, timestamp: '2026-02-21T18:00:15Z', ...given }),
      mailboxToEnvelope(request),
    )[0];
  const result = { content: '# hi', content_type: 'text/markdown', usage: { tokens: 7 } };
  const answered = answerTo({ response_kind: 'e2a.complete', status: 'succeeded', body: { result } });
  expect(answered).toMatchObject({
    message: { contentType: 'text/markdown', content: '# hi' },
    metadata: { result: { usage: { tokens: 7 } } },
  });
  const more = { details: { left: 0 }, retry_after: 17, documentation_url: 'https://docs.example.com/quota' };
  const body = { code: 'quota', message: 'Too much.', ...more };
  const failed = answerTo({ response_kind: 'e2a.error', status: 'failed', body });
  expect(failed?.message.content).toEqual({ error: 'Too much.', code: 'quota', ...more });
});
