import { describe, expect, test } from 'vitest';
import { describeDialect } from '../dialect.contract.ts';
import { FAILURES, type FailureCode, failure } from '../failure.ts';
import { e2aDialect, errorBodyOf, isResponse } from './dialect.ts';
import { newEnvelope } from './envelope.ts';
import { newResponse } from './response.ts';

describeDialect(e2aDialect);

const STAMP = { id: '0123456789abcdef0123456789abcdef', now: new Date('2026-03-28T12:00:30.000Z') };

describe('e2a: the hub', () => {
  test('an envelope is its own envelope, a response is not an envelope', () => {
    const envelope = newEnvelope({ request_id: 'r1' });
    expect(e2aDialect.toEnvelope(envelope)).toBe(envelope);
    expect(e2aDialect.toEnvelope(newResponse())).toBeUndefined();
    expect(e2aDialect.fromEnvelope(envelope, STAMP)).toEqual({ ok: true, value: envelope, warnings: [] });
  });

  test('a frame is answered as it is', () => {
    const response = newResponse({ request_id: 'r1', response_kind: 'e2a.chunk' });
    expect(e2aDialect.fromResponse(response, newEnvelope())).toEqual([response]);
  });

  test('a message is recognized by its kind, even an empty one', () => {
    expect(isResponse(newResponse())).toBe(true);
    expect(isResponse(newEnvelope({ extras: { response_kind: 'x' } }))).toBe(false);
  });
});

describe('e2a: failures', () => {
  test('a failure is one final e2a.error that echoes the request', () => {
    const request = newEnvelope({
      request_id: 'r1',
      jsonrpc_id: 7,
      session_id: 's1',
      channel: 'web',
      method: 'chat.send',
      is_stream: true,
    });
    expect(e2aDialect.fromFailure(failure('rate_limited', { retry_after: 7 }), request, STAMP)).toMatchObject({
      response_id: STAMP.id,
      request_id: 'r1',
      jsonrpc_id: 7,
      session_id: 's1',
      channel: 'web',
      method: 'chat.send',
      is_stream: true,
      sequence: 0,
      is_final: true,
      status: 'failed',
      response_kind: 'e2a.error',
      timestamp: '2026-03-28T12:00:30.000Z',
      body: {
        code: 'E2A.RATE_LIMITED',
        message: 'Rate limit exceeded.',
        details: { retry_after: 7, fault: 'sender', retryable: true },
      },
    });
  });

  test('a failure before there was a request echoes nothing', () => {
    expect(e2aDialect.fromFailure(failure('not_json'), undefined, STAMP)).toMatchObject({
      request_id: null,
      body: { code: 'E2A.INVALID_JSON' },
    });
  });

  test('every code has its word, and issues travel in the details', () => {
    for (const code of Object.keys(FAILURES) as FailureCode[]) {
      expect(errorBodyOf(failure(code))['code']).toBe(FAILURES[code].e2a);
    }
    const issues = [{ pointer: '/params', code: 'type', message: 'params must be an object; got 1' }];
    expect(errorBodyOf(failure('invalid_message', { issues }))).toMatchObject({ details: { issues } });
  });
});

describe('e2a: recognizing', () => {
  test.each([
    ['an A2A message', { message_type: 'request', request_id: 'r1' }],
    ['a wire message', { type: 'tool/call', request_id: 'r1' }],
    ['a mailbox message', { from: 'someone', channel: 'web' }],
    ['a JSON-RPC call', { jsonrpc: '2.0', method: 'session/prompt', params: {} }],
    ['a method without params', { method: 'chat.send' }],
    ['an empty object', {}],
    ['an array', []],
    ['null', null],
  ])('%s is not ours', (_, json) => {
    expect(e2aDialect.recognizes(json)).toBe(false);
  });

  test('a type that is not text is only an unknown key', () => {
    expect(e2aDialect.recognizes({ request_id: 'r1', type: 5 })).toBe(true);
  });
});
