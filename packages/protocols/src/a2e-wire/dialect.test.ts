import { describe, expect, test } from 'vitest';
import { describeDialect } from '../dialect.contract.ts';
import type { Json, JsonObject } from '../json.ts';
import { a2eWireDialect } from './dialect.ts';
import { KNOWN_TYPES } from './type-map.ts';

describeDialect(a2eWireDialect);

describe('recognition', () => {
  const ours = { type: 'ping', id: 'p', ts: 1 };

  test.each([
    ['a stamp', { type: 'ping', a2e: '1.0' }],
    ['a stamp of SCP', { type: 'invoke', skills: '1.0' }],
    ['an id and a time', ours],
    ['an old subagent type', { type: 'SUBAGENT_EVENT', version: '1.0' }],
  ])('%s', (_, json) => {
    expect(a2eWireDialect.recognizes(json)).toBe(true);
  });

  test.each<[string, Json]>([
    ['an A2A message', { ...ours, message_type: 'request' }],
    ['a line of a workflow', { ...ours, type: 'operationUpdate' }],
    ['another line of a workflow', { ...ours, type: 'beginExecution' }],
    ['no type', { a2e: '1.0', id: 'p', ts: 1 }],
    ['an id without a time', { type: 'ping', id: 'p' }],
    ['no object', [ours]],
    ['inherited names', { type: 'constructor', id: 'p' }],
  ])('not %s', (_, json) => {
    expect(a2eWireDialect.recognizes(json)).toBe(false);
  });
});

describe('to the hub', () => {
  test('every request an agent makes of a capability becomes an envelope, and nothing else does', () => {
    for (const row of KNOWN_TYPES) {
      const message = { a2e: '1.0', version: '1.0', type: row.type, id: 'x', ts: 1, arguments: {} } as const;
      const expected = row.role === 'request' && row.from === 'agent' && row.type !== 'handshake/req';
      expect([row.type, a2eWireDialect.toEnvelope(message) !== undefined]).toEqual([row.type, expected]);
    }
  });

  test('the params of such a request are all its own fields, also those we do not know', () => {
    const envelope = envelopeOf({ type: 'planning/task/list', plan_id: 'p', colour: 'red' });
    expect(envelope?.params).toEqual({ plan_id: 'p', colour: 'red', status: '' });
  });

  test('credentials of a model provider stay behind', () => {
    const override = { provider_name: 'x', provider_credentials: { key: 's3cret' } };
    const envelope = envelopeOf({ type: 'skill/call/req', name: 'sum', llm_override: override });
    expect(JSON.stringify(envelope)).not.toContain('s3cret');
  });

  test('the latest time that ts can hold is still a timestamp', () => {
    expect(envelopeOf({ type: 'tool/list/req', ts: 253402300799 })?.timestamp).toBe('9999-12-31T23:59:59.000Z');
  });
});

describe('writing', () => {
  test('writes everything, base fields first, and compactly', () => {
    const outcome = a2eWireDialect.decode({ a2e: '1.0', type: 'tool/list/req', id: 'x', ts: 1 }, NOW);
    expect(outcome.ok && JSON.stringify(a2eWireDialect.encode(outcome.value))).toBe(
      '{"a2e":"1.0","version":"1.0","type":"tool/list/req","id":"x","ts":1,' +
        '"filter_kind":"","filter_tags":[],"query":"","include_deferred":false}',
    );
  });
});

function envelopeOf(fields: JsonObject) {
  const outcome = a2eWireDialect.decode({ a2e: '1.0', id: 'x', ts: 1, ...fields }, NOW);
  if (!outcome.ok) expect.unreachable(JSON.stringify(outcome.issues));
  return a2eWireDialect.toEnvelope(outcome.value);
}

const NOW = new Date('2026-03-28T12:00:30.000Z');
