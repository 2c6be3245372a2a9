import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { respellA2a, respellAcp } from './spelling.ts';

describe('two spellings', () => {
  test('every field of ACP is written either way, at any depth', () => {
    const snake = { session_id: 's', update: { tool_call_id: 'c', content: [{ mime_type: 'm' }] }, stop_reason: 'x' };
    const camel = { sessionId: 's', update: { toolCallId: 'c', content: [{ mimeType: 'm' }] }, stopReason: 'x' };
    expect(respellAcp(snake, 'camelCase')).toEqual(camel);
    expect(respellAcp(camel, 'snake_case')).toEqual(snake);
  });

  test('members of a tool or an extension keep their keys', () => {
    const value = { raw_input: { session_id: 1 }, _meta: { session_id: 2 }, rawOutput: { session_id: 3 } };
    expect(respellAcp(value, 'camelCase')).toEqual({
      rawInput: { session_id: 1 },
      _meta: { session_id: 2 },
      rawOutput: { session_id: 3 },
    });
  });

  test('where both spellings are there, nothing is lost', () => {
    const value = { session_id: 'a', sessionId: 'b' };
    expect(respellAcp(value, 'camelCase')).toEqual(value);
    expect(respellAcp(value, 'snake_case')).toEqual(value);
  });

  test('other keys stay as they are, also dangerous ones', () => {
    const value = JSON.parse('{"my_key":1,"__proto__":{"session_id":"s"}}');
    const written = respellAcp(value, 'camelCase');
    expect(JSON.stringify(written)).toBe('{"my_key":1,"__proto__":{"sessionId":"s"}}');
    expect(Object.getPrototypeOf(written)).toBe(Object.prototype);
  });

  test('A2A has names of its own', () => {
    expect(respellA2a({ task_id: 't', session_id: 's', artifact: { artifact_id: 'a' } }, 'camelCase')).toEqual({
      taskId: 't',
      session_id: 's',
      artifact: { artifactId: 'a' },
    });
  });

  test('there and back is where one started', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('session_id', 'mime_type', 'x', '_meta'), fc.jsonValue()), (value) => {
        const json = JSON.parse(JSON.stringify(value));
        expect(respellAcp(respellAcp(json, 'camelCase'), 'snake_case')).toEqual(respellAcp(json, 'snake_case'));
      }),
    );
  });
});
