import { describe, expect, test } from 'vitest';
import { completed, mailboxMessageId } from './message-id.ts';
import { normalise } from './shorthand.ts';

const stamp = { id: '0123456789abcdef0123456789abcdef', now: new Date('2026-03-28T12:00:30.000Z') };

describe('an id we make', () => {
  test('is msg_, the milliseconds of the epoch and eight hex digits', () => {
    expect(mailboxMessageId({ now: stamp.now, random: stamp.id })).toBe('msg_1774699230000_01234567');
  });
});

describe('completing a message', () => {
  test('gives it an id and the time, at the top and in metadata', () => {
    const message = completed(normalise({ from: 'MyAgent', message: 'Hello', metadata: { traceId: 'abc' } }), stamp);
    const given = { messageId: 'msg_1774699230000_01234567', timestamp: '2026-03-28T12:00:30.000Z' };
    expect(message).toMatchObject({ ...given, metadata: { ...given, traceId: 'abc' } });
  });

  test("keeps the sender's own", () => {
    const given = { messageId: 'mine', timestamp: '2026-01-01T00:00:00Z' };
    const message = normalise({ from: 'MyAgent', message: 'Hello', metadata: given });
    expect(completed(message, stamp)).toEqual(message);
  });

  test('leaves the message it was given alone', () => {
    const message = normalise({ from: 'MyAgent', message: 'Hello' });
    completed(message, stamp);
    expect(message.messageId).toBeNull();
    expect(message.metadata.messageId).toBeNull();
  });
});
