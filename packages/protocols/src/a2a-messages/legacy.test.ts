import { describe, expect, test } from 'vitest';
import { edited } from '../edit.ts';
import type { Json } from '../json.ts';
import { readLegacy } from './legacy.ts';
import { tolerate } from './lenient.ts';

const read = (type: string, payload: Json) => readLegacy({ message_type: type, recipient_id: 'agent-1', payload });

describe('the older dialect', () => {
  test('a message in the words of the spec is handed on untouched', () => {
    for (const json of [null, [], 'x', {}, { message_type: 'request', payload: { method: 'm', parameters: {} } }]) {
      const result = readLegacy(json as Json);
      expect(result.json).toBe(json);
      expect(result.warnings).toEqual([]);
    }
  });

  test('params beside parameters are left to the strict reader', () => {
    expect(read('request', { method: 'm', params: 1, parameters: {} }).warnings).toEqual([]);
  });

  test('a result beside any member of the new form is left to the strict reader', () => {
    for (const member of ['status', 'data', 'error']) {
      expect(read('response', { result: 1, [member]: 1 }).warnings).toEqual([]);
    }
  });

  test('an empty error text becomes its code', () => {
    expect(read('error', { error: '', code: 400 }).json).toMatchObject({
      payload: { error: { code: 'INVALID_MESSAGE', message: 'INVALID_MESSAGE' } },
    });
  });

  test('an unknown code is an internal error', () => {
    for (const code of [418, '404', null]) {
      expect(read('error', { error: 'x', code }).json).toMatchObject({
        payload: { error: { code: 'INTERNAL_ERROR' } },
      });
    }
  });

  test('each change is reported in full', () => {
    expect(read('request', { method: 'm', params: {} }).warnings).toEqual([
      { pointer: '/payload/params', code: 'legacy_key', message: 'params is the old name of parameters' },
    ]);
    expect(read('error', { error: 'x', code: 404 }).warnings.map(({ message }) => message)).toEqual([
      'error as text is the old form of error {code, message}',
      'code 404 is read as error.code "NOT_FOUND"',
    ]);
  });
});

describe('lenient reading', () => {
  const time = (timestamp: string) => {
    const { json } = tolerate({ message_type: 'goodbye', timestamp });
    return (json as { timestamp: string }).timestamp;
  };

  test.each([
    ['2025-12-09T15:30:00.1Z', '2025-12-09T15:30:00.100Z'],
    ['2025-12-09T15:30:00.123456', '2025-12-09T15:30:00.123Z'],
    ['2025-12-09T15:30:00', '2025-12-09T15:30:00.000Z'],
    ['2025-12-09T10:30:00-05:00', '2025-12-09T15:30:00.000Z'],
    ['2025-12-09t15:30:00z', '2025-12-09T15:30:00.000Z'],
    ['2025-12-09T15:30:00Z', '2025-12-09T15:30:00Z'],
    ['2025-02-30T15:30:00', '2025-02-30T15:30:00'],
    ['noon', 'noon'],
  ])('the time %s is read as %s', (text, expected) => {
    expect(time(text)).toBe(expected);
  });

  test('a field that is left out is named with what was expected', () => {
    const { warnings } = tolerate({ message_type: 'goodbye', payload: { reasn: 'x' } });
    expect(warnings).toEqual([
      {
        pointer: '/payload/reasn',
        code: 'unknown_field',
        message: 'reasn is not a known field; expected reason; it is left out',
        suggestion: 'did you mean reason?',
      },
    ]);
  });
});

describe('edits by pointer', () => {
  test('values are put and taken away anywhere, and what is not touched is shared', () => {
    const json = { a: { b: [1, { c: 2, d: 3 }], e: 4 }, f: { g: 5 } };
    const after = edited(
      json,
      new Map<string, Json | undefined>([
        ['/a/b/1/c', undefined],
        ['/a/e', 'four'],
      ]),
    );
    expect(after).toEqual({ a: { b: [1, { d: 3 }], e: 'four' }, f: { g: 5 } });
    expect((after as typeof json).f).toBe(json.f);
    expect(json.a.e).toBe(4);
  });

  test('pointers that lead nowhere change nothing', () => {
    const json = { a: [1] };
    expect(
      edited(
        json,
        new Map([
          ['/a/7', 1],
          ['/b/c', 1],
          ['/a/0/x', 1],
        ]),
      ),
    ).toEqual(json);
  });

  test('an own __proto__ stays an own key', () => {
    const json = JSON.parse('{"__proto__": {"x": 1}, "y": 2}') as Json;
    const after = edited(json, new Map([['/y', 3]]));
    expect(Object.keys(after as object)).toEqual(['__proto__', 'y']);
    expect(Object.getPrototypeOf(after)).toBe(Object.prototype);
  });
});
