import { describe, expect, test } from 'vitest';
import { describeDialect } from '../dialect.contract.ts';
import { failure } from '../failure.ts';
import type { Json } from '../json.ts';
import { isMailboxError, isMailboxMessage, isMailboxResponse, type MailboxWire, mailboxDialect } from './dialect.ts';

describeDialect(mailboxDialect);

const now = new Date('2026-02-21T18:00:00.000Z');
const decoded = (json: Json): MailboxWire => {
  const outcome = mailboxDialect.decode(json, now);
  if (!outcome.ok) expect.unreachable(JSON.stringify(outcome.issues));
  return outcome.value;
};

describe('recognizing a mailbox message', () => {
  test.each<[string, Json]>([
    ['a message', { from: 'a', message: 'b' }],
    ['a message without a sender', { message: 'b' }],
    ['a sender without a message', { from: 'a' }],
    ['a response', { messageId: 'a', replyTo: 'b' }],
    ['a refusal', { error: 'Invalid message format', errors: [] }],
    ['a refusal with a time', { error: 'Not found', timestamp: '2026-02-21T18:00:00.000Z' }],
    ['a refusal for now', { error: 'Rate limit exceeded', retryAfter: 3 }],
  ])('takes %s', (_, json) => {
    expect(mailboxDialect.recognizes(json)).toBe(true);
  });

  test.each<[string, Json]>([
    ['an A2A message', { message_type: 'request', from: 'a', message: 'b' }],
    ['a wire message', { type: 'error', id: '1', ts: 1, message: 'b' }],
    ['an E2A envelope', { protocol_version: '1.0', message: 'b' }],
    ['a workflow refusal', { error: 'Rate limit exceeded', message: 'Wait.', retry_after: 3 }],
    ['an error of its own', { error: 'oops' }],
    ['an error that is an object', { error: { type: 'x' }, timestamp: 'now' }],
    ['a list', [{ from: 'a', message: 'b' }]],
    ['a text', 'from'],
    ['nothing', null],
  ])('leaves %s to others', (_, json) => {
    expect(mailboxDialect.recognizes(json)).toBe(false);
  });
});

describe('decoding', () => {
  test('distinguishes messages, responses and refusals', () => {
    const message = decoded({ from: 'a', message: 'b' });
    const response = decoded({ messageId: 'a', replyTo: null, from: { name: 'b' }, message: { content: 'c' } });
    const refusal = decoded({ error: 'Rate limit exceeded', retryAfter: 3 });
    expect([message, response, refusal].map(isMailboxMessage)).toEqual([true, false, false]);
    expect([message, response, refusal].map(isMailboxResponse)).toEqual([false, true, false]);
    expect([message, response, refusal].map(isMailboxError)).toEqual([false, false, true]);
  });

  test('reads the bare refusals of other mailboxes, which name no time', () => {
    expect(decoded({ error: 'Internal server error', message: 'boom' })).toEqual({
      error: 'Internal server error',
      message: 'boom',
    });
  });

  test('takes a message for a response only by its own id and replyTo, side by side', () => {
    const outcome = mailboxDialect.decode({ from: 'a', message: 'b', replyTo: 'c' }, now);
    expect(outcome).toMatchObject({
      ok: false,
      issues: [{ pointer: '/replyTo', code: 'unknown_field', suggestion: 'move it to metadata.replyTo' }],
    });
  });

  test('gives the issues that make the 400 body of the spec', () => {
    const outcome = mailboxDialect.decode({ to: { agentId: 'x' }, message: 'b' }, now);
    if (outcome.ok) expect.unreachable('accepted');
    const body = mailboxDialect.fromFailure(failure('invalid_message', { issues: outcome.issues }), undefined, {
      id: '0'.repeat(32),
      now,
    });
    expect(body).toEqual({
      error: 'Invalid message format',
      errors: [
        'Missing required field: from',
        'Invalid agentId format (expected CAIP-2: eip155:chainId:registry:tokenId)',
      ],
      timestamp: '2026-02-21T18:00:00.000Z',
    });
  });

  test('keeps a prototype name inside content where it is, and lets it reach nothing', () => {
    const json = JSON.parse('{"from":"a","message":{"content":{"__proto__":{"polluted":true}}}}') as Json;
    const message = decoded(json);
    expect(JSON.stringify(mailboxDialect.encode(message))).toContain('"__proto__":{"polluted":true}');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe('a message of unknown fields', () => {
  const unknown = Object.fromEntries(Array.from({ length: 200_000 }, (_, index) => [`mesage${index}`, 1]));

  test('is refused with the first hundred of them named', () => {
    const outcome = mailboxDialect.decode({ from: 'a', message: 'b', ...unknown }, now);
    if (outcome.ok) expect.unreachable();
    expect(outcome.issues).toHaveLength(101);
    expect(outcome.issues.at(-1)).toMatchObject({ code: 'more_problems' });
  });

  test('is taken by a lenient reader, unless one of them reaches a prototype', () => {
    const lenient = (json: Json) => mailboxDialect.decode(json, now, { lenient: true });
    expect(lenient({ from: 'a', message: 'b', ...unknown })).toMatchObject({ ok: true });
    const hidden = { from: 'a', message: 'b', ...unknown, ...(JSON.parse('{"__proto__": {}}') as object) } as Json;
    expect(lenient(hidden)).toMatchObject({ ok: false, issues: [{ pointer: '/__proto__', code: 'forbidden_key' }] });
  });
});
