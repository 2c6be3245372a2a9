import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Stamp } from '../dialect.ts';
import { newEnvelope } from '../e2a/envelope.ts';
import { type E2AResponse, newResponse } from '../e2a/response.ts';
import { FAILURES, type FailureCode, failure } from '../failure.ts';
import { a2aMessagesDialect as dialect } from './dialect.ts';
import { ERROR_CODES } from './errors.ts';
import { errorFrom } from './hub.ts';

const ID = 'a7f8d9e2-3c4b-4d6e-8f8a-9b0c1d2e3f40';
const ANSWER_ID = '4f1d6a52-9d4e-4c5b-8a6f-2b7c3d1e0f9a';
const NOW = new Date('2026-03-28T12:00:30.000Z');
const STAMP: Stamp = { id: '0123456789abcdef0123456789abcdef', now: NOW };
const request = newEnvelope({
  request_id: ID,
  message_id: ID,
  source_agent_id: 'client-agent-001',
  agent_ref: { id: 'crypto-agent-001' },
  method: 'get_price',
});

function answer(given: Partial<E2AResponse>, to = request) {
  const frame = newResponse({
    response_id: ANSWER_ID,
    request_id: to.request_id,
    timestamp: '2026-03-28T12:00:30.000Z',
    is_final: true,
    status: 'succeeded',
    response_kind: 'e2a.complete',
    ...given,
  });
  const messages = dialect.fromResponse(frame, to);
  for (const message of messages) {
    expect(dialect.decode(dialect.encode(message), NOW)).toMatchObject({ ok: true, value: message, warnings: [] });
  }
  return messages;
}

describe('answers converted to A2A', () => {
  test('a complete answer is a success, from the recipient to the sender', () => {
    expect(answer({ body: { result: { price_usd: 1 } } })).toEqual([
      {
        message_id: ANSWER_ID,
        message_type: 'response',
        sender_id: 'crypto-agent-001',
        recipient_id: 'client-agent-001',
        timestamp: '2026-03-28T12:00:30.000Z',
        payload: { status: 'success', data: { price_usd: 1 } },
        correlation_id: ID,
      },
    ]);
  });

  test('a result that is not an object is wrapped, because data must be one', () => {
    for (const result of ['text', 7, null, false, ['a']]) {
      expect(answer({ body: { result } })).toMatchObject([{ payload: { status: 'success', data: { result } } }]);
    }
    expect(answer({ body: {} })[0]?.payload).toEqual({ status: 'success', data: {} });
  });

  test('a chunk is not sent: A2A answers whole', () => {
    expect(
      answer({ response_kind: 'e2a.chunk', is_final: false, status: 'in_progress', body: { delta: 'x' } }),
    ).toEqual([]);
  });

  test("another protocol's last frame is still the answer", () => {
    const body = { stop_reason: 'end_turn' };
    expect(answer({ response_kind: 'acp.prompt_result', body })).toMatchObject([
      { payload: { status: 'success', data: body } },
    ]);
  });

  test.each([
    ['E2A.RATE_LIMITED', 'RATE_LIMIT_EXCEEDED'],
    ['E2A.AGENT_ERROR', 'DEPENDENCY_FAILED'],
    ['INVALID_CURRENCY', 'INVALID_CURRENCY'],
    ['my-own.code', 'MY_OWN_CODE'],
    ['7', 'ERROR_7'],
    ['', 'ERROR'],
    ['E2A.UNKNOWN_METHOD', 'METHOD_NOT_ALLOWED'],
    [-32601, 'METHOD_NOT_ALLOWED'],
    [-32603, 'INTERNAL_ERROR'],
    [-32602, 'VALIDATION_FAILED'],
    [12345, 'ERROR_12345'],
    [null, 'INTERNAL_ERROR'],
  ])('the error code %j becomes %s', (code, reported) => {
    const body = { code, message: 'no', details: { currency: 'XYZ' } };
    expect(answer({ response_kind: 'e2a.error', status: 'failed', body })).toMatchObject([
      { payload: { status: 'error', error: { code: reported, message: 'no', details: { currency: 'XYZ' } } } },
    ]);
  });

  test('any error body makes a valid response', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('code', 'message', 'details', 'data'), fc.jsonValue()), (body) => {
        expect(
          answer({ response_kind: 'e2a.error', status: 'failed', body: body as E2AResponse['body'] }),
        ).toHaveLength(1);
      }),
    );
  });

  test('a time is written in UTC with three decimals, and taken from the request where the frame has none', () => {
    expect(answer({ timestamp: '2026-03-28T14:00:00.5+02:00' })).toMatchObject([
      { timestamp: '2026-03-28T12:00:00.500Z' },
    ]);
    const dated = { ...request, timestamp: '2026-03-28T11:00:00Z' };
    expect(answer({ timestamp: null }, dated)).toMatchObject([{ timestamp: '2026-03-28T11:00:00.000Z' }]);
    expect(answer({ timestamp: null })).toMatchObject([{ timestamp: '1970-01-01T00:00:00.000Z' }]);
  });

  test('ids of other protocols become ids derived from them, always the same ones', () => {
    const foreign = { ...request, request_id: 'req_1', message_id: null };
    const [first] = answer({ response_id: 'r3' }, foreign);
    const [second] = answer({ response_id: 'r3' }, foreign);
    const [other] = answer({ response_id: 'r4' }, foreign);
    expect(second).toEqual(first);
    expect(other?.message_id).not.toBe(first?.message_id);
    expect(other?.correlation_id).toBe(first?.correlation_id);
    const reported = dialect.fromEnvelope(foreign, STAMP);
    expect(reported.ok && reported.value.message_id, 'the relayed request has the id its answer names').toBe(
      first?.correlation_id,
    );
  });

  test('an answer to a broadcast is from the agent that names itself, else from us', () => {
    const broadcast = { ...request, agent_ref: { id: '*' } };
    expect(answer({ source_agent_id: 'crypto-agent-002' }, broadcast)).toMatchObject([
      { sender_id: 'crypto-agent-002' },
    ]);
    expect(answer({}, broadcast)).toMatchObject([{ sender_id: 'dragoman' }]);
  });

  test('without any id to name there is no answer', () => {
    expect(answer({}, newEnvelope())).toEqual([]);
  });
});

describe('failures converted to A2A', () => {
  test('every failure has a code of the table', () => {
    for (const code of Object.keys(FAILURES) as FailureCode[]) {
      expect(Object.keys(ERROR_CODES)).toContain(errorFrom(failure(code)).code);
    }
  });

  test('an error names its cause, its retry time in whole seconds and its details', () => {
    const message = dialect.fromFailure(failure('rate_limited', { retry_after: 1.2, limit: 100 }), request, STAMP);
    expect(message).toEqual({
      message_id: '01234567-89ab-4def-8123-456789abcdef',
      message_type: 'error',
      sender_id: 'crypto-agent-001',
      recipient_id: 'client-agent-001',
      timestamp: '2026-03-28T12:00:30.000Z',
      payload: {
        error: {
          code: 'RATE_LIMIT_EXCEEDED',
          message: 'Rate limit exceeded.',
          details: { limit: 100 },
          retry_after: 2,
        },
      },
      correlation_id: ID,
    });
  });

  test('there is none without a request to name', () => {
    expect(dialect.fromFailure(failure('not_json'), undefined, STAMP)).toBeUndefined();
    expect(dialect.fromFailure(failure('not_json'), newEnvelope(), STAMP)).toBeUndefined();
  });

  test('an unproven caller learns only that authentication is required', () => {
    expect(errorFrom(failure('unauthenticated', { key: 'unknown' }, 'The key 7 is revoked.'))).toEqual({
      code: 'AUTHENTICATION_FAILED',
      message: 'Authentication required.',
    });
  });

  test('a long message is cut to 500 characters, never through one', () => {
    for (const text of ['x'.repeat(501), '🦊'.repeat(501), '🦊'.repeat(5000)]) {
      const { message } = errorFrom(failure('internal', {}, text));
      expect([...message]).toHaveLength(500);
      expect(message.endsWith('…')).toBe(true);
      expect(JSON.stringify(message)).not.toMatch(/\\ud/);
    }
    expect(errorFrom(failure('internal', {}, '🦊'.repeat(500))).message).toBe('🦊'.repeat(500));
  });
});

describe('envelopes converted to A2A requests', () => {
  test('a request comes back from the hub as it was', () => {
    const given = {
      message_id: ID,
      message_type: 'request',
      sender_id: 'client-agent-001',
      recipient_id: 'crypto-agent-001',
      timestamp: '2025-12-09T15:30:00.000Z',
      payload: { method: 'get_price', parameters: { currency: 'BTC' } },
      correlation_id: null,
    };
    const outcome = dialect.decode(given, NOW);
    const envelope = outcome.ok ? dialect.toEnvelope(outcome.value) : undefined;
    if (envelope === undefined) expect.unreachable();
    expect(dialect.fromEnvelope(envelope, STAMP)).toEqual({ ok: true, value: given, warnings: [] });
  });

  test('an envelope without a sender and recipient is sent by us to the default agent, now, under the id of the stamp', () => {
    expect(dialect.fromEnvelope(newEnvelope({ method: 'chat.send' }), STAMP)).toEqual({
      ok: true,
      value: {
        message_id: '01234567-89ab-4def-8123-456789abcdef',
        message_type: 'request',
        sender_id: 'dragoman',
        recipient_id: 'default-agent',
        timestamp: '2026-03-28T12:00:30.000Z',
        payload: { method: 'chat.send' },
        correlation_id: null,
      },
      warnings: [],
    });
  });

  test('unsupported values are converted or lost, and every loss is named', () => {
    const envelope = newEnvelope({
      request_id: 'req_1',
      jsonrpc_id: 7,
      correlation_id: 'c',
      session_id: 's',
      user_id: 'u',
      identity_origin: 'service',
      source_agent_id: 'my agent',
      agent_ref: { id: 'crypto_agent', version: '2' },
      agent_id: 'other-agent',
      method: 'm',
      is_stream: true,
      extras: { 'a/b': 1 },
    });
    const reported = dialect.fromEnvelope(envelope, STAMP);
    if (!reported.ok) expect.unreachable();
    expect(reported.value).toMatchObject({ sender_id: 'my-agent', recipient_id: 'crypto-agent' });
    expect(reported.warnings.every(({ code }) => code === 'lost')).toBe(true);
    expect(reported.warnings.map(({ pointer }) => pointer)).toEqual([
      '/source_agent_id',
      '/agent_ref/id',
      '/jsonrpc_id',
      '/correlation_id',
      '/session_id',
      '/user_id',
      '/is_stream',
      '/request_id',
      '/identity_origin',
      '/agent_id',
      '/agent_ref/version',
      '/a~1b',
    ]);
  });

  test('an envelope without a method, or with one too long, is not a request', () => {
    for (const method of [null, '']) {
      expect(dialect.fromEnvelope(newEnvelope({ method }), STAMP)).toMatchObject({
        ok: false,
        issues: [{ pointer: '/method', code: 'required' }],
      });
    }
    expect(dialect.fromEnvelope(newEnvelope({ method: 'm'.repeat(129) }), STAMP)).toMatchObject({
      ok: false,
      issues: [{ pointer: '/method', code: 'too_long' }],
    });
    expect(dialect.fromEnvelope(newEnvelope({ method: '🦊'.repeat(128) }), STAMP).ok).toBe(true);
  });

  test('any envelope that can be converted is a valid message', () => {
    const name = fc.option(fc.string());
    const envelopes = fc.record({ request_id: name, source_agent_id: name, agent_id: name, method: name });
    fc.assert(
      fc.property(envelopes, (given) => {
        const reported = dialect.fromEnvelope(newEnvelope(given), STAMP);
        if (reported.ok)
          expect(dialect.decode(dialect.encode(reported.value), NOW)).toMatchObject({ ok: true, warnings: [] });
        else expect(reported.issues[0]?.pointer).toBe('/method');
      }),
    );
  });
});
