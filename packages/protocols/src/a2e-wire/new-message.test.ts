import { expect, test } from 'vitest';
import { newError, newMessage } from './new-message.ts';

const STAMP = { id: '0123456789abcdef0123456789abcdef', now: new Date('2026-03-28T12:00:30.500Z') };

test('a new message has both stamps, an id, the time, and every field of its type', () => {
  expect(newMessage('tool/call/req', { tool_name: 'echo', arguments: { a: 1 } }, STAMP)).toEqual({
    a2e: '1.0',
    version: '1.0',
    type: 'tool/call/req',
    id: STAMP.id,
    ts: 1774699230.5,
    session_id: '',
    tool_name: 'echo',
    arguments: { a: 1 },
    correlation_id: '',
    streaming: false,
    timeout: 30,
  });
});

test('TypeScript asks for the fields that have no default', () => {
  // @ts-expect-error arguments is missing
  newMessage('tool/call/req', { tool_name: 'echo' }, STAMP);
  // @ts-expect-error there is no such type
  newMessage('tool/cal/req', {}, STAMP);
  expect(newMessage('ping', {}, STAMP).type).toBe('ping');
});

test('an error takes its retry rule from the table and its capability from the type', () => {
  const error = newError({ code: 'busy', reqId: 'r', message: 'later', about: 'mcp/prompt/get/req' }, STAMP);
  expect(error).toMatchObject({ type: 'error', req_id: 'r', retryable: true, capability_name: 'mcp', detail: {} });
});
