import { describe, expect, test } from 'vitest';
import type { Json } from '../json.ts';
import { decodeEnvelope } from './read-envelope.ts';
import { decodeResponse } from './read-response.ts';

function warningsOf(json: Json, lenient = false) {
  const outcome = decodeEnvelope(json, { lenient });
  if (!outcome.ok) expect.unreachable(JSON.stringify(outcome.issues));
  return outcome.warnings;
}

describe('tolerances are reported', () => {
  test('an old key names the new one', () => {
    expect(warningsOf({ request_id: 'r1', channel_id: 'web' })).toEqual([
      {
        pointer: '/channel_id',
        code: 'legacy_key',
        message: 'channel_id is a legacy key; use channel',
        suggestion: 'send channel',
      },
    ]);
  });

  test('a repaired value is reported with its old and new value', () => {
    expect(warningsOf({ request_id: 'r1', timestamp: 0 })[0]?.message).toBe(
      'timestamp should be an RFC 3339 time in UTC; got 0, read as "1970-01-01T00:00:00.000Z"',
    );
    expect(warningsOf({ request_id: 'r1', identity_origin: 'bot' }, true)[0]?.message).toBe(
      'identity_origin should be one of system, user, agent, service; got "bot", read as its default',
    );
  });

  test('a key close to a missing field suggests it; close to one that is there, it is only unknown', () => {
    expect(warningsOf({ request_id: 'r1', metod: 'chat.send' })[0]?.suggestion).toBe('did you mean method?');
    expect(warningsOf({ request_id: 'r1', method: 'chat.send', metod: 'x' })).toEqual([]);
  });

  test('ten thousand unknown keys are kept and only a few compared', () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`sesion_i${index}`, index]));
    const outcome = decodeEnvelope({ request_id: 'r1', ...many });
    if (!outcome.ok) expect.unreachable();
    expect(Object.keys(outcome.value.extras)).toHaveLength(10_000);
    expect(outcome.warnings.length).toBeLessThanOrEqual(16);
  });
});

describe('merging old keys', () => {
  test('payload does not repair params that are not an object: both are judged', () => {
    const outcome = decodeEnvelope({ request_id: 'r1', params: 5, payload: { a: 1 } });
    expect(outcome).toMatchObject({ ok: false, issues: [{ pointer: '/params', code: 'type' }] });
  });

  test('a binding leaves an earlier note alone', () => {
    const provenance = { source_protocol: 'e2a', details: { migrated_from_binding: 'a2a' } };
    const outcome = decodeEnvelope({ request_id: 'r1', binding: 'acp', provenance });
    expect(outcome).toMatchObject({ value: { provenance } });
  });

  test('prototype names merged from a payload stay plain keys', () => {
    const outcome = decodeEnvelope(JSON.parse('{"request_id":"r1","payload":{"__proto__":{"admin":true}}}'));
    if (!outcome.ok) expect.unreachable();
    expect(Object.keys(outcome.value.params)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(outcome.value.params)).toBe(Object.prototype);
    expect('admin' in outcome.value.params).toBe(false);
  });
});

describe('the input', () => {
  test('is not changed by reading it', () => {
    const input = {
      request_id: 'r1',
      channel_id: 'web',
      metadata: { a: 1 },
      channel_context: { b: 2 },
      binding: 'acp',
    };
    const before = structuredClone(input);
    decodeEnvelope(input);
    expect(input).toEqual(before);
  });

  test('unknown members of nested records stay in place', () => {
    const outcome = decodeEnvelope({ request_id: 'r1', provenance: { source_protocol: 'acp', x_hop: 1 } });
    expect(outcome).toMatchObject({
      ok: true,
      value: { provenance: { source_protocol: 'acp', x_hop: 1, details: {} } },
    });
  });
});

test('a method alone is an envelope, as params have a default; a JSON-RPC call is not', () => {
  const value = { method: 'session.list', params: {} };
  expect(decodeEnvelope({ method: 'session.list' })).toMatchObject({ ok: true, value, warnings: [] });
  expect(decodeEnvelope({ jsonrpc: '2.0', id: 1, method: 'session/list' })).toMatchObject({ ok: false });
});

test.each([
  [{ params: { content: 'hi' } }, 'an object with params and no method'],
  [{ content: 'hi' }, 'an object with neither method nor response_kind'],
])('%j is refused with the missing member', (json, got) => {
  const message = `the message must be an E2A envelope or response; got ${got}`;
  expect(decodeEnvelope(json)).toMatchObject({ ok: false, issues: [{ code: 'not_e2a', message }] });
});

test('an envelope that stands for a response is called what it is', () => {
  const message = 'the message must be an E2A envelope or response; got an envelope where a response belongs';
  expect(decodeResponse({ method: 'chat.send', params: {} })).toMatchObject({ ok: false, issues: [{ message }] });
});
