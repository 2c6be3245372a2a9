import { describe, expect, test } from 'vitest';
import { failure } from '../failure.ts';
import type { Json } from '../json.ts';
import { a2aMessagesDialect as dialect } from './dialect.ts';
import { errorAbout } from './error-about.ts';

const NOW = new Date('2026-03-28T12:00:30.000Z');
const STAMP = { id: '0123456789abcdef0123456789abcdef', now: NOW };
const unreadable = {
  message_id: 'a7f8d9e2-3c4b-4d6e-8f8a-9b0c1d2e3f40',
  message_type: 'request',
  sender_id: 'client-agent-001',
  recipient_id: 'crypto-agent-001',
  timestamp: '2025-12-09T15:30:00.000Z',
  payload: {},
};

function errorTo(json: Json) {
  const outcome = dialect.decode(json, NOW);
  if (outcome.ok) expect.unreachable();
  const error = errorAbout(json, failure('invalid_message', { issues: outcome.issues }), STAMP);
  if (error !== undefined) expect(dialect.decode(dialect.encode(error), NOW)).toMatchObject({ ok: true, value: error });
  return error;
}

describe('the answer to a message that cannot be read', () => {
  test('names it and lists what is wrong with it', () => {
    expect(errorTo(unreadable)).toMatchObject({
      message_type: 'error',
      sender_id: 'crypto-agent-001',
      recipient_id: 'client-agent-001',
      correlation_id: unreadable.message_id,
      payload: {
        error: { code: 'VALIDATION_FAILED', details: { issues: [{ pointer: '/payload/method', code: 'required' }] } },
      },
    });
  });

  test('is sent by us where it names no agent we could speak for', () => {
    expect(errorTo({ ...unreadable, recipient_id: '*' })?.sender_id).toBe('dragoman');
  });

  test('also answers an unknown type', () => {
    expect(errorTo({ ...unreadable, message_type: 'stream_start' })?.correlation_id).toBe(unreadable.message_id);
  });

  test('is impossible for a message without an id or a sender', () => {
    expect(errorTo({ ...unreadable, message_id: '1' })).toBeUndefined();
    expect(errorTo({ ...unreadable, sender_id: '*' })).toBeUndefined();
    expect(errorTo(['request'])).toBeUndefined();
  });

  test('is never given to an answer or a goodbye', () => {
    for (const type of ['response', 'handshake_ack', 'error', 'agent_announcement', 'goodbye']) {
      expect(errorTo({ ...unreadable, message_type: type, payload: { x: 1 } }), type).toBeUndefined();
    }
  });
});
