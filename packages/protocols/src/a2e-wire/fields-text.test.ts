import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyCharacter } from '../framing/any-character.contract.ts';
import type { Json, JsonObject } from '../json.ts';
import { completeFields } from './defaults.ts';
import { fieldsText } from './fields-text.ts';

const RESULT = { success: true, tool_name: 'echo' };

describe('the fields of a message as text', () => {
  const text = fc.string({ unit: anyCharacter });
  const value = fc.jsonValue({ stringUnit: anyCharacter });
  const member = fc.oneof(value, text, fc.constantFrom('', null, true, false, 0, 1.5, 30));
  const named = <Name extends string>(...names: Name[]) =>
    Object.fromEntries(names.map((name) => [name, member])) as Record<Name, typeof member>;

  test('are what the longer way makes of them, whatever a tool answers', () => {
    const some = named('data', 'summary', 'truncated', 'exit_code', 'error', 'error_code', 'duration_ms', 'events');
    const result = fc.record(
      { success: fc.oneof(fc.boolean(), member), tool_name: fc.oneof(text, member), ...some },
      { requiredKeys: ['success', 'tool_name'], noNullPrototype: true },
    );
    const answer = fc.record({ data: result, created_at: member }, { requiredKeys: ['data'], noNullPrototype: true });
    fc.assert(
      fc.property(answer, (fields) => sameAsTheLongerWay('tool/call/resp', fields)),
      { numRuns: 1000 },
    );
  });

  test('are the same as those of the longer way, for any tool call', () => {
    const some = named('session_id', 'tool_name', 'correlation_id', 'streaming', 'timeout');
    const request = fc.record({ arguments: member, ...some }, { requiredKeys: ['arguments'], noNullPrototype: true });
    fc.assert(
      fc.property(request, (fields) => sameAsTheLongerWay('tool/call/req', fields)),
      { numRuns: 1000 },
    );
  });

  test('have every default, and nothing for what has none', () => {
    const text = fieldsText('tool/call/req', { arguments: {} }, { isAnswer: false });
    expect(text).toBe(
      ',"session_id":"","tool_name":"","arguments":{},"correlation_id":"","streaming":false,"timeout":30',
    );
    expect(fieldsText('ping', {}, { isAnswer: false })).toBe('');
  });

  test('are the same whether what is as usual was given or left out', () => {
    const request = { session_id: '', tool_name: '', correlation_id: '', streaming: false, timeout: 30 };
    const result = { data: null, summary: null, truncated: false, exit_code: null, error: null, error_code: null };
    const usual = { ...result, duration_ms: 0, events: [] };
    const requestText = fieldsText('tool/call/req', { arguments: {} }, { isAnswer: false });
    const answered = fieldsText('tool/call/resp', { data: RESULT }, { isAnswer: true });
    fc.assert(
      fc.property(fc.subarray(Object.entries(request)), fc.subarray(Object.entries(usual)), (some, others) => {
        const fields = { arguments: {}, ...Object.fromEntries(some) };
        expect(fieldsText('tool/call/req', fields, { isAnswer: false })).toBe(requestText);
        const data = { ...RESULT, ...Object.fromEntries(others) } as JsonObject;
        expect(fieldsText('tool/call/resp', { data }, { isAnswer: true })).toBe(answered);
      }),
      { examples: [[Object.entries(request), Object.entries(usual)]] },
    );
  });

  test('keep the order of the schema, in usual and unusual messages', () => {
    const data = { ...RESULT, data: 1, error: 'no', duration_ms: 2.5 };
    const text = fieldsText('tool/call/resp', { data, created_at: 7 } as JsonObject, { isAnswer: true });
    expect(text).toBe(
      ',"data":{"success":true,"tool_name":"echo","data":1,"summary":null,"truncated":false,"exit_code":null,"error":"no",' +
        '"error_code":null,"duration_ms":2.5,"events":[]},"created_at":7',
    );
  });

  test('have req_id where no other part writes it', () => {
    const fields = { req_id: 'r', data: { ...RESULT } };
    expect(fieldsText('tool/call/resp', fields, { isAnswer: false })).toMatch(/^,"req_id":"r","data":\{/);
    expect(fieldsText('tool/call/resp', fields, { isAnswer: true })).toBeUndefined();
  });

  test.each<[string, unknown]>([
    ['a member that the type does not have', { arguments: {}, more: 1 }],
    ['a member of the head', { arguments: {}, id: 'forged' }],
    ['nothing where something must be', {}],
    ['a number that JSON cannot represent', { arguments: {}, timeout: Number.NaN }],
    ['not a value', { arguments: () => {} }],
    ['an object that is more than its members', { arguments: new Date(0) }],
  ])('are left to the longer way with %s', (_, fields) => {
    expect(fieldsText('tool/call/req', fields as JsonObject, { isAnswer: false })).toBeUndefined();
  });

  test.each<[string, unknown]>([
    ['a member that the result does not have', { ...RESULT, more: 1 }],
    ['nothing where something must be', { success: true }],
    ['no object', 'done'],
    ['no plain object', Object.create(RESULT)],
  ])('are left to the longer way where the result is or has %s', (_, data) => {
    expect(fieldsText('tool/call/resp', { data } as JsonObject, { isAnswer: true })).toBeUndefined();
  });

  test('are left to the longer way with lists whose items have defaults, and of an unknown type', () => {
    expect(fieldsText('tool/list/resp', { tools: [] }, { isAnswer: true })).toBeUndefined();
    expect(fieldsText('lab/run/resp', {}, { isAnswer: true })).toBeUndefined();
  });
});

function sameAsTheLongerWay(type: string, given: object): void {
  const fields = given as JsonObject;
  const isAnswer = type.endsWith('/resp');
  const text = fieldsText(type, fields, { isAnswer });
  expect(text).toMatch(/^,[^\n\r\u0085\u2028\u2029]+$/);
  expect(JSON.parse(`{${text?.slice(1)}}`)).toEqual(written(completeFields(type, fields, { isAnswer })));
}

function written(value: Json): unknown {
  return JSON.parse(JSON.stringify(value));
}
