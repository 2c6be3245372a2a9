import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadFixtures } from '../../../../scripts/conformance.ts';
import { type AcceptExpect, describeDialect } from '../dialect.contract.ts';
import type { Json } from '../json.ts';
import { a2aMessagesDialect as dialect } from './dialect.ts';
import { MESSAGE_TYPES } from './message.ts';

describeDialect(dialect);

const NOW = new Date('2026-03-28T12:00:30.000Z');
const accepted = loadFixtures<AcceptExpect>('a2a-messages', 'accept');

function messageNamed(name: string): { [key: string]: Json } {
  const fixture = accepted.find((candidate) => candidate.name === name);
  if (fixture === undefined) throw new Error(`no fixture ${name}`);
  return structuredClone(fixture.input) as { [key: string]: Json };
}

function issuesOf(json: Json) {
  const outcome = dialect.decode(json, NOW);
  return outcome.ok ? [] : outcome.issues;
}

describe('a2a-messages: what it recognizes', () => {
  test('an object with a message_type in text, whatever else it holds', () => {
    expect(dialect.recognizes({ message_type: 'nobody-knows' })).toBe(true);
    for (const json of [{ message_type: 1 }, { type: 'request' }, {}, [], 'request', null]) {
      expect(dialect.recognizes(json)).toBe(false);
    }
  });

  test('there is an accepted message of each of the eight types', () => {
    const types = new Set(accepted.map(({ input }) => (input as { message_type: string }).message_type));
    expect([...types].sort()).toEqual([...MESSAGE_TYPES].sort());
  });
});

describe('a2a-messages: suggestions', () => {
  const request = messageNamed('spec-example-request');
  test.each<[string, Json, string | undefined]>([
    ['a type with a hyphen', { ...request, message_type: 'discover-agents' }, 'did you mean "discover_agents"?'],
    [
      'an id in upper case',
      { ...request, message_id: String(request['message_id']).toUpperCase() },
      `did you mean "${request['message_id']}"?`,
    ],
    ['an invalid id', { ...request, message_id: 'req-1' }, 'use a version 4 UUID: 8-4-4-4-12 lower-case hex digits'],
    ['an agent id with spaces', { ...request, sender_id: 'my agent!' }, 'did you mean "my-agent"?'],
    [
      'a time in another zone',
      { ...request, timestamp: '2025-12-09T16:30:00+01:00' },
      'did you mean "2025-12-09T15:30:00.000Z"?',
    ],
    ['a time that no calendar has', { ...request, timestamp: '2025-02-30T00:00:00Z' }, undefined],
    ['the old name of parameters', { ...request, payload: { method: 'm', params: {} } }, 'did you mean parameters?'],
    ['a slip in a name', { ...request, payload: { method: 'm', paramters: {} } }, 'did you mean parameters?'],
    ['an unknown field', { ...request, priority: 1 }, 'remove priority'],
  ])('%s', (_, json, suggestion) => {
    expect(issuesOf(json).map((issue) => issue.suggestion)).toEqual([suggestion]);
  });

  test('an error code is suggested in the form it must have', () => {
    const error = messageNamed('spec-example-error');
    error['payload'] = { error: { code: 'rate-limit exceeded', message: 'x' } };
    expect(issuesOf(error)).toMatchObject([{ suggestion: 'did you mean "RATE_LIMIT_EXCEEDED"?' }]);
  });

  test('a suggested value is taken', () => {
    const hints = fc.record({ sender_id: fc.string(), code: fc.string() });
    fc.assert(
      fc.property(hints, ({ sender_id, code }) => {
        const error = { ...messageNamed('spec-example-error'), sender_id, payload: { error: { code, message: 'x' } } };
        for (const { pointer, suggestion } of issuesOf(error)) {
          const value = /^did you mean (".*")\?$/.exec(suggestion ?? '')?.[1];
          if (value === undefined) continue;
          const repaired = pointer === '/sender_id' ? { ...error, sender_id: JSON.parse(value) } : error;
          if (pointer === '/payload/error/code')
            repaired.payload = { error: { code: JSON.parse(value), message: 'x' } };
          expect(issuesOf(repaired).filter((issue) => issue.pointer === pointer)).toEqual([]);
        }
      }),
    );
  });
});

describe('a2a-messages: reading and writing', () => {
  test('writing leaves out auth where there is none and always writes correlation_id', () => {
    const { correlation_id: _, ...request } = messageNamed('spec-example-request');
    const outcome = dialect.decode(request, NOW);
    if (!outcome.ok) expect.unreachable();
    const { correlation_id: __, ...bare } = outcome.value as { correlation_id?: null } & typeof outcome.value;
    const written = dialect.encode(bare as typeof outcome.value);
    expect(Object.keys(written as object)).toEqual([
      'message_id',
      'message_type',
      'sender_id',
      'recipient_id',
      'timestamp',
      'payload',
      'correlation_id',
    ]);
  });

  test('written messages are read back, with any parameters', () => {
    const request = messageNamed('spec-example-request');
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (parameters) => {
        const json = { ...request, payload: { method: 'm', parameters: parameters as { [key: string]: Json } } };
        const outcome = dialect.decode(json, NOW);
        if (!outcome.ok) expect.unreachable(JSON.stringify(outcome.issues));
        expect(dialect.encode(outcome.value)).toEqual(json);
      }),
    );
  });

  test('an own __proto__ among the parameters stays data and reaches no prototype', () => {
    const json = JSON.parse(
      JSON.stringify(messageNamed('spec-example-request')).replace('"currency"', '"__proto__"'),
    ) as Json;
    const outcome = dialect.decode(json, NOW);
    if (!outcome.ok) expect.unreachable();
    const params = dialect.toEnvelope(outcome.value)?.params ?? {};
    expect(Object.keys(params)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(params)).toBe(Object.prototype);
  });

  test('of a message with very many problems the first hundred are reported', () => {
    const unknown = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`x${index}`, index]));
    const crowded = { ...messageNamed('spec-example-request'), ...unknown };
    expect(issuesOf(crowded)).toHaveLength(101);
    expect(issuesOf(crowded).at(-1)?.message).toBe('the message has 100 problems or more; the rest is not listed');
    expect(dialect.decode(crowded, NOW, { lenient: true }).ok).toBe(false);

    const agents = Array.from({ length: 20_000 }, () => JSON.parse('{"__proto__": 1}') as Json);
    const announcement = { ...messageNamed('spec-example-agent-announcement'), payload: { agents, total_count: 0 } };
    expect(issuesOf(announcement).map(({ code }) => code)).toEqual([
      ...Array(100).fill('required'),
      'more_problems',
      ...Array(100).fill('forbidden_key'),
    ]);
  });

  test('a hundred unknown fields are left out leniently', () => {
    const unknown = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`x${index}`, index]));
    const outcome = dialect.decode({ ...messageNamed('spec-example-request'), ...unknown }, NOW, { lenient: true });
    expect(outcome.ok && outcome.warnings.length).toBe(100);
  });

  test('text of some megabytes is refused, not stumbled over', { timeout: 30_000 }, () => {
    const long = 'A'.repeat(8_000_000);
    const signed = messageNamed('auth-with-a-whole-fingerprint');
    expect(issuesOf({ ...signed, recipient_id: long })).toMatchObject([{ pointer: '/recipient_id', code: 'pattern' }]);
    const auth = { ...(signed['auth'] as object), signature: `${long}!` };
    expect(issuesOf({ ...signed, auth })).toMatchObject([{ pointer: '/auth/signature', code: 'base64' }]);
  });
});
