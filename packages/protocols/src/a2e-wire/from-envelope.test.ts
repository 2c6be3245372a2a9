import { describe, expect, test } from 'vitest';
import { loadFixtures } from '../../../../scripts/conformance.ts';
import { newEnvelope } from '../e2a/envelope.ts';
import { a2eWireDialect } from './dialect.ts';
import { wireFromEnvelope } from './from-envelope.ts';

describe('an envelope', () => {
  test('is a tool call: the method is the tool, the params its arguments', () => {
    const envelope = newEnvelope({
      request_id: 'r-1',
      session_id: 's',
      correlation_id: 'c',
      identity_origin: 'agent',
      method: 'weather',
      params: { city: 'Bern' },
      is_stream: true,
      timestamp: '2026-03-28T12:00:00.250Z',
    });
    expect(wireFromEnvelope(envelope, STAMP)).toEqual({
      ok: true,
      warnings: [],
      value: {
        a2e: '1.0',
        version: '1.0',
        type: 'tool/call/req',
        id: 'r-1',
        ts: 1774699200.25,
        session_id: 's',
        tool_name: 'weather',
        arguments: { city: 'Bern' },
        correlation_id: 'c',
        streaming: true,
        timeout: 30,
      },
    });
  });

  test('without an id or a time gets those handed in', () => {
    expect(wireFromEnvelope(newEnvelope({ method: 'weather' }), STAMP)).toMatchObject({
      ok: true,
      value: { id: STAMP.id, ts: STAMP.now.getTime() / 1000 },
    });
  });

  test('whose method is a type of this wire is that request', () => {
    const envelope = newEnvelope({ method: 'memory/forget/req', params: { memory_id: 'm', tags: ['old'] } });
    expect(wireFromEnvelope(envelope, STAMP)).toMatchObject({
      ok: true,
      value: { type: 'memory/forget/req', memory_id: 'm', tags: ['old'], tier: 'episodic' },
    });
  });

  test('keeps its session and correlation also where the type has no field for them', () => {
    const envelope = newEnvelope({
      method: 'planning/plan/list',
      session_id: 's',
      correlation_id: 'c',
      is_stream: true,
    });
    const outcome = wireFromEnvelope(envelope, STAMP);
    expect(outcome).toMatchObject({ ok: true, value: { session_id: 's', correlation_id: 'c', streaming: true } });
    expect(outcome.ok && a2eWireDialect.toEnvelope(outcome.value)).toMatchObject({ session_id: 's', is_stream: true });
  });

  test('from before 1970 becomes 1970', () => {
    const envelope = newEnvelope({ method: 'weather', timestamp: '1969-07-20T20:17:40Z' });
    expect(wireFromEnvelope(envelope, STAMP)).toMatchObject({ ok: true, value: { ts: 0 } });
  });

  test('cannot smuggle in base fields by its params', () => {
    const params = { type: 'shutdown', id: 'other', a2e: '9.0', ts: 'x' };
    expect(
      wireFromEnvelope(newEnvelope({ method: 'planning/plan/list', request_id: 'r', params }), STAMP),
    ).toMatchObject({
      ok: true,
      value: { type: 'planning/plan/list', id: 'r', a2e: '1.0' },
    });
  });

  test('whose params do not fit that request is refused, by the place in the params', () => {
    const envelope = newEnvelope({ method: 'memory/forget/req', params: { tags: 'old' } });
    expect(wireFromEnvelope(envelope, STAMP)).toMatchObject({
      ok: false,
      issues: [{ pointer: '/params/memory_id' }, { pointer: '/params/tags' }],
    });
  });

  test('cannot make a message of the connection', () => {
    for (const method of ['handshake/req', 'shutdown', 'tool/call/resp', 'mcp/sample/req']) {
      expect(wireFromEnvelope(newEnvelope({ method }), STAMP)).toMatchObject({
        ok: true,
        value: { type: 'tool/call/req', tool_name: method },
      });
    }
  });

  test('without a method cannot be converted', () => {
    expect(wireFromEnvelope(newEnvelope(), STAMP)).toMatchObject({
      ok: false,
      issues: [{ pointer: '/method', code: 'required' }],
    });
  });

  test('names each thing that is lost, and only what held something', () => {
    const envelope = newEnvelope({
      method: 'weather',
      identity_origin: 'user',
      channel: 'web',
      chat_id: '',
      jsonrpc_id: 0,
      channel_context: { a: 1 },
      expected_output_modes: ['text'],
      request_id: 'x'.repeat(257),
    });
    const outcome = wireFromEnvelope(envelope, STAMP);
    if (!outcome.ok) expect.unreachable();
    expect(outcome.warnings.map(({ pointer }) => pointer)).toEqual([
      '/jsonrpc_id',
      '/channel',
      '/expected_output_modes',
      '/channel_context',
      '/identity_origin',
      '/request_id',
    ]);
    for (const { code } of outcome.warnings) expect(code).toBe('lost');
    expect(outcome.value.id).toBe(STAMP.id);
  });
});

describe('there and back', () => {
  const requests = loadFixtures<{ envelope?: unknown }>('a2e-wire', 'accept').filter(
    ({ expect: { envelope } }) => envelope,
  );

  test.each(requests)('$name comes back from the hub as it was', ({ input, options }) => {
    const given = a2eWireDialect.decode(input, STAMP.now, options);
    if (!given.ok) expect.unreachable();
    const envelope = a2eWireDialect.toEnvelope(given.value);
    if (envelope === undefined) expect.unreachable();
    expect(a2eWireDialect.fromEnvelope(envelope, STAMP)).toEqual({ ok: true, value: given.value, warnings: [] });
  });
});

const STAMP = { id: '0123456789abcdef0123456789abcdef', now: new Date('2026-03-28T12:00:30.500Z') };
