import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyCharacter } from '../framing/any-character.contract.ts';
import type { Json, JsonObject } from '../json.ts';
import { completeFields } from './defaults.ts';
import { fieldsText } from './fields-text.ts';

const RESULT = { success: true, tool_name: 'echo' };

describe('the fields of a message as text', () => {
  test('are what the longer way makes of them, whatever a tool answers', () => {
    const value = fc.jsonValue({ stringUnit: anyCharacter });
    fc.assert(
      fc.property(value, value, fc.string({ unit: anyCharacter }), (data, summary, error) => {
        const fields = { data: { ...RESULT, data, summary, error }, created_at: 1.5 } as JsonObject;
        const text = fieldsText('tool/call/resp', fields, { isAnswer: true });
        expect(text).toMatch(/^[^\n\r\u0085\u2028\u2029]+$/);
        expect(JSON.parse(`{${text}}`)).toEqual(written(completeFields('tool/call/resp', fields, { isAnswer: true })));
      }),
    );
  });

  test('have every default, and nothing for what has none', () => {
    const text = fieldsText('tool/call/req', { arguments: {} }, { isAnswer: false });
    expect(text).toBe(
      '"session_id":"","tool_name":"","arguments":{},"correlation_id":"","streaming":false,"timeout":30',
    );
    expect(fieldsText('ping', {}, { isAnswer: false })).toBe('');
  });

  test.each<[string, unknown]>([
    ['a member that the type does not have', { arguments: {}, more: 1 }],
    ['a member of the head', { arguments: {}, id: 'forged' }],
    ['nothing where something must be', {}],
    ['a number that JSON cannot say', { arguments: {}, timeout: Number.NaN }],
    ['what is no value', { arguments: () => {} }],
    ['an object that is more than its members', { arguments: new Date(0) }],
  ])('are left to the longer way with %s', (_, fields) => {
    expect(fieldsText('tool/call/req', fields as JsonObject, { isAnswer: false })).toBeUndefined();
  });

  test('are left to the longer way with lists whose items have defaults, and of a type that nobody knows', () => {
    expect(fieldsText('tool/list/resp', { tools: [] }, { isAnswer: true })).toBeUndefined();
    expect(fieldsText('lab/run/resp', {}, { isAnswer: true })).toBeUndefined();
  });
});

function written(value: Json): unknown {
  return JSON.parse(JSON.stringify(value));
}
