import { describe, expect, test } from 'vitest';
import { describeDialect } from '../dialect.contract.ts';
import { newEnvelope } from '../e2a/envelope.ts';
import { newResponse } from '../e2a/response.ts';
import { failure } from '../failure.ts';
import type { Json } from '../json.ts';
import { a2eWorkflowDialect, type WorkflowMessage } from './dialect.ts';

describeDialect(a2eWorkflowDialect);

const NOW = new Date('2026-03-28T12:00:30.000Z');
const STAMP = { id: '0123456789abcdef0123456789abcdef', now: NOW };
const LINES =
  '{"type":"operationUpdate","operationId":"a","operation":{"Wait":{"duration":1}}}\n' +
  '{"type":"beginExecution","executionId":"exec-1","operationOrder":["a"]}';

describe('a workflow through the hub', () => {
  test('a workflow becomes the method workflow.execute and comes back unchanged', () => {
    const message = decoded({ workflow: LINES, onError: 'continue', level: 'strict', timeout_ms: 900 });
    const envelope = a2eWorkflowDialect.toEnvelope(message);
    expect(envelope).toMatchObject({
      method: 'workflow.execute',
      request_id: 'exec-1',
      identity_origin: 'agent',
      params: { workflow: LINES, onError: 'continue', level: 'strict', timeout_ms: 900 },
      provenance: { source_protocol: 'a2e-workflow', converter: 'dragoman', converted_at: null },
    });
    const back = a2eWorkflowDialect.fromEnvelope(envelope ?? newEnvelope(), STAMP);
    expect(back).toEqual({ ok: true, value: message, warnings: [] });
  });

  test('lines and answers stay where they are', () => {
    for (const json of [
      { type: 'beginExecution', executionId: 'e', operationOrder: ['a'] },
      { execution_id: 'e', status: 'success', results: {} },
      { valid: true, errors: [], warnings: [] },
    ]) {
      expect(a2eWorkflowDialect.toEnvelope(decoded(json))).toBeUndefined();
    }
  });

  test('an envelope of another method is not a workflow, and the issue says so', () => {
    const outcome = a2eWorkflowDialect.fromEnvelope(
      newEnvelope({ method: 'chat.send', params: { query: 'hi' } }),
      STAMP,
    );
    expect(outcome).toMatchObject({ ok: false, issues: [{ pointer: '/method', code: 'not_a_workflow' }] });
    const empty = a2eWorkflowDialect.fromEnvelope(newEnvelope({ method: 'workflow.execute' }), STAMP);
    expect(empty).toMatchObject({ ok: false, issues: [{ pointer: '/params/workflow', code: 'not_a_workflow' }] });
  });

  test('problems inside an envelope point into the envelope', () => {
    const envelope = newEnvelope({ method: 'workflow.execute', params: { workflow: '{"type":1}', level: 'none' } });
    const outcome = a2eWorkflowDialect.fromEnvelope(envelope, STAMP);
    expect(outcome).toMatchObject({
      ok: false,
      issues: [{ pointer: '/params/level' }, { pointer: '/params/workflow/0/type' }],
    });
  });

  test('every non-empty field that a workflow cannot carry is named', () => {
    const envelope = newEnvelope({
      method: 'workflow.execute',
      request_id: 'another-id',
      session_id: 's-1',
      identity_origin: 'system',
      params: { workflow: LINES, colour: 'red' },
      is_stream: true,
    });
    const outcome = a2eWorkflowDialect.fromEnvelope(envelope, STAMP);
    if (!outcome.ok) expect.unreachable();
    expect(outcome.warnings.map(({ pointer, code }) => `${code} ${pointer}`).sort()).toEqual([
      'lost /identity_origin',
      'lost /is_stream',
      'lost /params/colour',
      'lost /request_id',
      'lost /session_id',
    ]);
  });

  test("an envelope's id serves a workflow that brings none", () => {
    const [definition = ''] = LINES.split('\n');
    const envelope = newEnvelope({ method: 'workflow.execute', request_id: 'req_7', params: { workflow: definition } });
    const outcome = a2eWorkflowDialect.fromEnvelope(envelope, STAMP);
    expect(outcome).toMatchObject({ ok: true, value: { workflow: { executionId: 'req_7' } }, warnings: [] });
    const odd = a2eWorkflowDialect.fromEnvelope({ ...envelope, request_id: 'req 7/x' }, STAMP);
    expect(odd).toMatchObject({
      ok: true,
      value: { workflow: { executionId: null } },
      warnings: [{ pointer: '/request_id', code: 'lost' }],
    });
  });
});

describe('answers', () => {
  const request = newEnvelope({ request_id: 'exec-1' });
  const answer = (given: Parameters<typeof newResponse>[0]) =>
    a2eWorkflowDialect.fromResponse(newResponse({ request_id: 'exec-1', ...given }), request);

  test("an engine's own result passes whole, under the request's id", () => {
    const result = { execution_id: 'x', status: 'partial_success', results: { a: 1 }, skipped: ['b'] };
    expect(answer({ response_kind: 'e2a.complete', status: 'succeeded', body: { result } })).toEqual([
      { kind: 'result', body: { ...result, execution_id: 'exec-1' } },
    ]);
  });

  test.each([
    [{ text: 'hi' }, { text: 'hi' }],
    ['hi', { result: 'hi' }],
    [undefined, {}],
  ])('the answer %j of an agent becomes the results', (result, results) => {
    const body = result === undefined ? {} : { result };
    const timestamp = '2026-03-28T12:00:00.000Z';
    expect(answer({ response_kind: 'e2a.complete', status: 'succeeded', timestamp, body })).toEqual([
      { kind: 'result', body: { execution_id: 'exec-1', status: 'success', results, completed_at: timestamp } },
    ]);
  });

  test('an error keeps its code and takes the type its code has', () => {
    const body = { code: 'E2A.TIMEOUT', message: 'too late', details: { after: 3 } };
    expect(answer({ response_kind: 'e2a.error', status: 'failed', body })).toEqual([
      {
        kind: 'error',
        body: {
          execution_id: 'exec-1',
          error: { type: 'TimeoutError', message: 'too late', details: { after: 3, code: 'E2A.TIMEOUT' } },
        },
      },
    ]);
    const [strange] = answer({ response_kind: 'e2a.error', status: 'failed', body: { code: 'MINE' } });
    expect(strange).toMatchObject({ body: { error: { type: 'ExecutionError' } } });
  });

  test('a chunk has no word here', () => {
    expect(answer({ response_kind: 'e2a.chunk', body: { delta: 'h' } })).toEqual([]);
  });

  test('a limit becomes the 429 body, in whole seconds', () => {
    const message = a2eWorkflowDialect.fromFailure(
      failure('rate_limited', { retry_after: 14.2 }, 'Rate limit exceeded: 60 requests per minute'),
      request,
      STAMP,
    );
    expect(message).toEqual({
      kind: 'rate-limited',
      body: {
        error: 'Rate limit exceeded',
        message: 'Rate limit exceeded: 60 requests per minute',
        retry_after: 15,
      },
    });
  });

  test('a refused message is a ValidationError with its issues and what to do about them', () => {
    const issues = [{ pointer: '/url', code: 'required', message: 'url is required', suggestion: 'add url' }];
    const message = a2eWorkflowDialect.fromFailure(
      failure('invalid_message', { issues, transport: 'http' }),
      request,
      STAMP,
    );
    expect(message).toEqual({
      kind: 'error',
      body: {
        execution_id: 'exec-1',
        error: {
          type: 'ValidationError',
          message: 'Invalid message.',
          details: { transport: 'http', code: 'invalid_message', issues },
          suggestions: ['add url'],
          category: 'validation',
        },
      },
    });
  });
});

describe('recognizing', () => {
  test.each<[string, Json]>([
    ['an empty array', []],
    ['an array with a foreign object', [{ type: 'beginExecution' }, { type: 'tool/call' }]],
    ['a message of another protocol', { message_type: 'request', workflow: 'x' }],
    ['a wire message', { type: 'tool/call/req', id: '1', ts: 1 }],
    ['a mailbox error', { error: 'Invalid message', errors: [], timestamp: 'x' }],
    ['a bundled key among others', { operationUpdate: {}, other: 1 }],
    ['null', null],
  ])('%s is not one of ours', (_name, json) => {
    expect(a2eWorkflowDialect.recognizes(json)).toBe(false);
  });
});

describe('hostile text', () => {
  test('a hundred thousand faulty lines are refused without an exception', () => {
    const outcome = a2eWorkflowDialect.decode({ workflow: '1\n'.repeat(200_000) }, NOW);
    expect(outcome.ok).toBe(false);
  });

  test('a fault names its line, and its offset counts from the start of the text', () => {
    const text = `${LINES.split('\n')[0]}\r\n\r\n{"type":oops}`;
    const outcome = a2eWorkflowDialect.decode({ workflow: text }, NOW);
    expect(outcome).toMatchObject({
      ok: false,
      issues: [{ pointer: '/workflow/2/type', code: 'not_json', offset: text.indexOf('oops') }],
    });
    if (!outcome.ok) expect(outcome.issues[0]?.message).toMatch(/^line 3: /);
  });
});

function decoded(json: Json): WorkflowMessage {
  const outcome = a2eWorkflowDialect.decode(json, NOW);
  if (!outcome.ok) expect.unreachable(JSON.stringify(outcome.issues));
  return outcome.value;
}
