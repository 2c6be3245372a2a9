import { expect, test } from 'vitest';
import { parseMessage } from './parse-message.ts';

test('an unsigned message may have numbers that a double changes', () => {
  expect(parseMessage('{"payload":{"id":9007199254740993},"auth":null}')).toMatchObject({ ok: true });
  expect(parseMessage(new TextEncoder().encode('{"payload":{"zero":-0.0}}'))).toMatchObject({ ok: true });
});

test('a signed message with a number that a double changes is refused, with its place', () => {
  expect(parseMessage('{"payload":{"id":9007199254740993},"auth":{}}')).toMatchObject({
    ok: false,
    issues: [{ code: 'inexact_number', pointer: '/payload/id' }],
  });
});
