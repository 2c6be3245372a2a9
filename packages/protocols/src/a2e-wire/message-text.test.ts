import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { messageText } from './message-text.ts';
import { withFields } from './new-message.ts';
import { KNOWN_TYPES } from './type-map.ts';

const STAMP = { id: '0123456789abcdef0123456789abcdef', now: new Date('2026-03-28T12:00:30.500Z') };

describe('the text of a message', () => {
  test.each(KNOWN_TYPES.map(({ type }) => type))('equals the message: %s', (type) => {
    expect(JSON.parse(messageText({ type, fields: { extra: [1] } }, STAMP))).toEqual(made(type, { extra: [1] }));
    expect(JSON.parse(messageText({ type, fields: {}, reqId: 'r' }, STAMP))).toEqual(made(type, { req_id: 'r' }));
  });

  test('has both stamps, the id and the time, for an unknown type', () => {
    const text = messageText({ type: 'lab/run/resp', fields: { a: 1 }, reqId: 'r"1' }, STAMP);
    expect(JSON.parse(text)).toEqual(made('lab/run/resp', { a: 1, req_id: 'r"1' }));
  });

  test.each(['a2e', 'version', 'type', 'id', 'ts', 'req_id'])('has %s once, whatever the fields contain', (name) => {
    const text = messageText({ type: 'tool/call/resp', fields: { [name]: 'forged', data: {} }, reqId: 'r' }, STAMP);
    expect(text.split(`"${name}":`)).toHaveLength(2);
    expect(text).not.toContain('forged');
  });

  test('is one line, whatever is in it', () => {
    const text = messageText({ type: 'pong', fields: { note: 'a\n\u2028\u0085' }, reqId: '\u2029' }, STAMP);
    expect(text).not.toMatch(/[\n\u0085\u2028\u2029]/);
    expect(JSON.parse(text)).toMatchObject({ note: 'a\n\u2028\u0085', req_id: '\u2029' });
  });
});

function made(type: string, fields: JsonObject): unknown {
  return withFields(type, fields, STAMP);
}
