import { describe, expect, test } from 'vitest';
import { type E2AResponse, newResponse } from '../e2a/response.ts';
import type { Json, JsonObject } from '../json.ts';
import { AnswerFold, type McpTargetKind } from './answer-fold.ts';

const chunk = (delta: Json, delta_kind = 'text'): Partial<E2AResponse> => ({
  response_kind: 'e2a.chunk',
  body: { delta_kind, delta },
});
const complete = (result: Json): Partial<E2AResponse> => ({
  response_kind: 'e2a.complete',
  is_final: true,
  status: 'succeeded',
  body: { result },
});
const failed = (body: JsonObject): Partial<E2AResponse> => ({
  response_kind: 'e2a.error',
  is_final: true,
  status: 'failed',
  body,
});

function folded(kind: McpTargetKind, frames: readonly Partial<E2AResponse>[], hasOutputSchema = false): AnswerFold {
  const fold = new AnswerFold({ kind, requestId: 'r', sessionId: 's', hasOutputSchema });
  for (const [sequence, frame] of frames.entries()) fold.apply(newResponse({ request_id: 'r', sequence, ...frame }));
  return fold;
}

const text = (...texts: string[]) => texts.map((one) => ({ type: 'text', text: one }));
const ids = { request_id: 'r', session_id: 's' };

describe('the answer of an agent', () => {
  test.each<[string, Partial<E2AResponse>[], JsonObject]>([
    [
      'that was streamed',
      [chunk('Hello'), chunk(' world'), complete(null)],
      { content: text('Hello world'), structuredContent: { status: 'completed', text: 'Hello world', ...ids } },
    ],
    [
      'that repeats what was streamed',
      [chunk('Hi'), complete({ text: 'Hi' })],
      { content: text('Hi'), structuredContent: { status: 'completed', text: 'Hi', ...ids } },
    ],
    [
      'that is a text',
      [complete('Hi')],
      { content: text('Hi'), structuredContent: { status: 'completed', text: 'Hi', ...ids } },
    ],
    [
      'that is data',
      [complete({ a: 1 })],
      {
        content: text('{"a":1}'),
        structuredContent: { status: 'completed', text: '{"a":1}', result: { a: 1 }, ...ids },
      },
    ],
    [
      'that is data beside text',
      [chunk('Hi'), complete({ a: 1 })],
      {
        content: text('Hi', '{"a":1}'),
        structuredContent: { status: 'completed', text: 'Hi', result: { a: 1 }, ...ids },
      },
    ],
  ])('%s is whole in content and in structuredContent', (_, frames, result) => {
    expect(folded('agent', frames).result()).toEqual({ ...result, _meta: { 'dragoman/request_id': 'r' } });
  });

  test('an error has its code and message in both, and the text before it', () => {
    const frames = [
      chunk('Half'),
      failed({ code: 'E2A.TIMEOUT', message: 'Too late.', details: { suggestions: ['wait longer'] } }),
    ];
    expect(folded('agent', frames).result()).toMatchObject({
      isError: true,
      content: text('Half', 'Too late. Wait longer.'),
      structuredContent: { status: 'failed', code: 'E2A.TIMEOUT', message: 'Too late. Wait longer.', text: 'Half' },
    });
    expect(folded('agent', [failed({ code: 'E2A.CANCELLED' })]).result()).toMatchObject({
      structuredContent: { status: 'cancelled' },
    });
  });

  test('an unfinished one explains how to get the rest', () => {
    expect(folded('agent', [chunk('Half')]).result()).toMatchObject({
      content: text('Half', 'Still working. Call get_answer with request_id "r" for the rest.'),
      structuredContent: { status: 'working', after: 0, text: 'Half', ...ids },
    });
  });
});

describe('the result of a tool', () => {
  const image = { type: 'image', data: 'AA==', mimeType: 'image/png' };
  test.each<[string, Json, JsonObject]>([
    ['text', 'Hi', { content: text('Hi') }],
    ['content blocks', [image], { content: [image] }],
    ['an object', { a: 1 }, { content: text('{"a":1}'), structuredContent: { a: 1 } }],
    ['a list that only looks like blocks', [{ type: 'image' }], { content: text('[{"type":"image"}]') }],
    ['nothing', null, { content: text('null') }],
  ])('that is %s', (_, result, expected) => {
    expect(folded('tool', [complete(result)]).result()).toEqual({ ...expected, _meta: { 'dragoman/request_id': 'r' } });
  });

  test('an error, and one that is not over, have no structured content: clients would check it against the outputSchema', () => {
    expect(folded('tool', [failed({ message: 'No.' })]).result()).not.toHaveProperty('structuredContent');
    expect(folded('tool', [], true).result()).toMatchObject({ isError: true });
    expect(folded('tool', [], true).result()).not.toHaveProperty('structuredContent');
  });
});

describe('while it runs', () => {
  test('the last words are the end of the text, or what a tool reports', () => {
    expect(folded('agent', [chunk('a '.repeat(200))]).lastWords).toHaveLength(120);
    const event = { tool: 'add', status: 'in_progress', event: 'progress', data: { pct: 40, message: 'half' } };
    const fold = folded('agent', [chunk('Hi'), chunk(event, 'tool')]);
    expect([fold.lastWords, fold.percent, fold.count]).toEqual(['add: half', 40, 2]);
  });
});
