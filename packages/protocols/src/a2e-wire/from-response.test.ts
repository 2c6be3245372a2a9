import { describe, expect, test } from 'vitest';
import { type E2AEnvelope, newEnvelope } from '../e2a/envelope.ts';
import { type E2AResponse, newResponse } from '../e2a/response.ts';
import { failure } from '../failure.ts';
import type { JsonObject } from '../json.ts';
import { a2eWireDialect } from './dialect.ts';
import { failureMessage } from './failure-message.ts';
import { wireFromResponse } from './from-response.ts';

describe('a chunk', () => {
  test.each([
    ['tool/call/req', 'tool/event'],
    ['skill/call/req', 'skill/event'],
    ['chain/req', 'chain/event'],
    ['tool/list/req', 'invoke/event'],
  ])('of %s is a %s, numbered like the frame', (type, event) => {
    const [message] = messagesFor({ sequence: 3, body: { delta_kind: 'text', delta: 'x' } }, requestOf(type));
    expect(message).toMatchObject({ type: event, req_id: 'r-1', seq: 3 });
  });

  test('of text is a status with the text in it, as it is', () => {
    const [message] = messagesFor({ body: { delta_kind: 'text', delta: 'Grüße, 世界 🌍' } });
    expect(message).toMatchObject({ kind: 'status', data: { delta_kind: 'text', delta: 'Grüße, 世界 🌍' } });
  });

  test('of reasoning is a log line', () => {
    const [message] = messagesFor({ body: { delta_kind: 'reasoning', delta: 'hm' } });
    expect(message).toMatchObject({ kind: 'log', data: { level: 'debug', message: 'hm' } });
  });

  test('of anything else is a status with the delta in it', () => {
    const [message] = messagesFor({ body: { delta_kind: 'tool', delta: { name: 'x' } } });
    expect(message).toMatchObject({ kind: 'status', data: { message: '', delta_kind: 'tool', delta: { name: 'x' } } });
  });

  test('that only keeps the connection alive is not sent', () => {
    expect(messagesFor({ sequence: -1, body: { delta_kind: 'custom', delta: { event_type: 'keepalive' } } })).toEqual(
      [],
    );
  });
});

test('a frame of another protocol on its way is a status that holds it whole', () => {
  const [message] = messagesFor({ response_kind: 'acp.session_update', body: { update: { plan: [] } } });
  expect(message).toMatchObject({
    kind: 'status',
    data: { response_kind: 'acp.session_update', body: { update: { plan: [] } } },
  });
});

describe('the final frame', () => {
  const final = (result: JsonObject[string]): Partial<E2AResponse> => ({
    is_final: true,
    status: 'succeeded',
    response_kind: 'e2a.complete',
    body: { result },
  });

  test('of a tool call is a result marked as successful', () => {
    const [message] = messagesFor(final({ sky: 'clear' }));
    expect(message).toEqual({
      a2e: '1.0',
      version: '1.0',
      type: 'tool/call/resp',
      id: '4f1d6a529d4e4c5b8a6f2b7c3d1e0f9a',
      ts: 1774699230.5,
      req_id: 'r-1',
      created_at: 1774699230.5,
      data: {
        success: true,
        tool_name: 'weather',
        data: { sky: 'clear' },
        summary: null,
        truncated: false,
        exit_code: null,
        error: null,
        error_code: null,
        duration_ms: 0,
        events: [],
      },
    });
  });

  test('of a skill is its result', () => {
    expect(messagesFor(final(4), requestOf('skill/call/req'))).toMatchObject([
      { type: 'skill/call/resp', name: 'weather', data: { success: true, data: 4, events: [] }, error: null },
    ]);
  });

  test('of a chain is the chain response it gives, or its final output', () => {
    const chain = requestOf('chain/req');
    expect(messagesFor(final({ success: false, nodes_run: 2 }), chain)).toMatchObject([
      { type: 'chain/resp', success: false, nodes_run: 2 },
    ]);
    expect(messagesFor(final([1]), chain)).toMatchObject([{ type: 'chain/resp', success: true, final_output: [1] }]);
  });

  test('of another request has the members of the result as fields, and is marked as successful', () => {
    expect(messagesFor(final({ proc_id: 'p', pid: 7 }), requestOf('proc/spawn/req'))).toMatchObject([
      { type: 'proc/spawn/resp', req_id: 'r-1', proc_id: 'p', pid: 7, ok: true, error: '' },
    ]);
    expect(messagesFor(final({ ok: false, error: 'no' }), requestOf('proc/spawn/req'))).toMatchObject([
      { ok: false, error: 'no' },
    ]);
    expect(messagesFor(final({ tools: [{ name: 'a' }] }), requestOf('tool/list/req'))).toMatchObject([
      { tools: [{ name: 'a', version: '1.0.0' }] },
    ]);
  });

  test('whose result does not fit the answer is an error with the reason, never a false success', () => {
    expect(messagesFor(final({ content: 'done' }), requestOf('memory/init/req'))).toMatchObject([
      {
        type: 'error',
        req_id: 'r-1',
        code: 'internal_error',
        capability_name: 'memory',
        detail: { issues: [{ pointer: '/memory_id' }] },
      },
    ]);
  });

  test('cannot pass itself off as another message', () => {
    const forged = { type: 'handshake/resp', id: 'x', req_id: 'other', a2e: '9.0', tools: [] };
    expect(messagesFor(final(forged), requestOf('tool/list/req'))).toMatchObject([
      { type: 'tool/list/resp', id: '4f1d6a529d4e4c5b8a6f2b7c3d1e0f9a', req_id: 'r-1', a2e: '1.0' },
    ]);
  });

  test('without a result gives its whole body', () => {
    expect(messagesFor({ ...final(null), body: { content: 'x' } })).toMatchObject([
      { data: { data: { content: 'x' } } },
    ]);
  });

  test('of a request that did not come by this wire answers a tool call', () => {
    const request = newEnvelope({ request_id: 'r-1', method: 'chat.send' });
    expect(messagesFor(final(1), request)).toMatchObject([
      { type: 'tool/call/resp', data: { tool_name: 'chat.send' } },
    ]);
  });
});

describe('an error frame', () => {
  const failed = (body: JsonObject): Partial<E2AResponse> => ({
    is_final: true,
    status: 'failed',
    response_kind: 'e2a.error',
    body,
  });

  test.each([
    ['E2A.TIMEOUT', 'timeout', true],
    ['E2A.RATE_LIMITED', 'rate_limited', true],
    ['E2A.UNKNOWN_METHOD', 'not_found', false],
    ['E2A.INVALID_MESSAGE', 'schema_violation', false],
    ['E2A.TOOL_ERROR', 'tool_error', true],
    ['E2A.CANCELLED', 'runtime_error', false],
    ['E2A.SOMETHING_NEW', 'tool_error', true],
    ['chain_cycle', 'chain_cycle', false],
    ['constructor', 'tool_error', true],
  ])('%s is %s', (code, wire, retryable) => {
    expect(messagesFor(failed({ code, message: 'no' }))).toMatchObject([
      {
        type: 'error',
        req_id: 'r-1',
        code: wire,
        message: 'no',
        retryable,
        capability_name: 'tools',
        detail: { e2a_code: code },
      },
    ]);
  });

  test('keeps its details and its retry information', () => {
    const [message] = messagesFor(
      failed({ code: 'E2A.TIMEOUT', message: 'no', retryable: false, details: { after: 30 } }),
    );
    expect(message).toMatchObject({ retryable: false, detail: { after: 30, e2a_code: 'E2A.TIMEOUT' } });
  });

  test('without code and message is still one', () => {
    expect(messagesFor(failed({}), requestOf('env/step/req'))).toMatchObject([
      { code: 'runtime_error', message: 'It failed while running.', detail: {}, capability_name: 'env' },
    ]);
  });
});

describe('a failure', () => {
  test('has the problem, the retry time, and nothing outside JSON', () => {
    const issues = [{ pointer: '/a', code: 'type', message: 'a must be a string; got 1' }];
    const details = { issues, suggestions: ['do'], retry_after: 7, cause: new Error('inside'), limit: Number.NaN };
    const message = failureMessage(failure('rate_limited', details), requestOf('chain/req'), STAMP);
    expect(message).toMatchObject({ req_id: 'r-1', code: 'rate_limited', retryable: true, capability_name: 'chains' });
    expect(message['detail']).toEqual({ issues, suggestions: ['do'], retry_after: 7, failure: 'rate_limited' });
  });
});

function messagesFor(frame: Partial<E2AResponse>, request: E2AEnvelope = requestOf('tool/call/req')) {
  const messages = wireFromResponse(
    newResponse({
      response_id: '4f1d6a52-9d4e-4c5b-8a6f-2b7c3d1e0f9a',
      response_kind: 'e2a.chunk',
      timestamp: '2026-03-28T12:00:30.500Z',
      ...frame,
    }),
    request,
  );
  for (const message of messages) {
    expect(a2eWireDialect.decode(a2eWireDialect.encode(message), STAMP.now)).toMatchObject({
      ok: true,
      value: message,
    });
  }
  return messages;
}

function requestOf(type: string): E2AEnvelope {
  const method = type === 'tool/call/req' || type === 'skill/call/req' ? 'weather' : type;
  const provenance = { source_protocol: 'a2e-wire', converter: 'dragoman', converted_at: null, details: { type } };
  return newEnvelope({ request_id: 'r-1', method, provenance });
}

const STAMP = { id: '0123456789abcdef0123456789abcdef', now: new Date('2026-03-28T12:00:30.500Z') };
