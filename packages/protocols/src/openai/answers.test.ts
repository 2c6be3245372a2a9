import { describe, expect, test } from 'vitest';
import { questionBody } from '../e2a/adapters/acp-question.ts';
import { type E2AResponse, newResponse } from '../e2a/response.ts';
import type { JsonObject } from '../json.ts';
import { ChatAnswer } from './chat-answer.ts';
import { ResponseAnswer } from './response-answer.ts';

const ABOUT = { id: 'r1', model: 'helper', created: 7 };

function frame(
  sequence: number,
  kind: 'e2a.chunk' | 'e2a.complete' | 'e2a.error' | 'acp.output_request',
  body: JsonObject,
) {
  const isFinal = kind === 'e2a.complete' || kind === 'e2a.error';
  return newResponse({
    response_id: `f${sequence}`,
    request_id: 'r1',
    sequence,
    is_final: isFinal,
    status: kind === 'e2a.error' ? 'failed' : isFinal ? 'succeeded' : 'in_progress',
    response_kind: kind,
    body,
  });
}
const chunk = (sequence: number, delta_kind: string, delta: string | JsonObject) =>
  frame(sequence, 'e2a.chunk', { delta_kind, delta });

const USAGE = { input_tokens: 10, output_tokens: 5, total_tokens: 15, cached_input_tokens: 4, reasoning_tokens: 2 };
const CALL = { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{}' } };

function completed(frames: readonly E2AResponse[], includeUsage = false) {
  const answer = new ChatAnswer({ ...ABOUT, includeUsage });
  return { chunks: [answer.first(), ...frames.flatMap((one) => answer.chunks(one))], whole: answer.whole() };
}

describe('a chat completion', () => {
  test('has the text and the reasoning as they come, and the tokens where they are wanted', () => {
    const frames = [
      chunk(0, 'reasoning', 'hm'),
      chunk(1, 'text', 'Hel'),
      chunk(2, 'tool', { tool: 'x', status: 'completed' }),
      chunk(3, 'text', 'lo'),
      frame(4, 'e2a.complete', { result: { text: 'Hello' }, usage: USAGE }),
    ];
    const { chunks, whole } = completed(frames, true);
    const choices = chunks.map(({ choices: list }) => (list as JsonObject[])[0]);
    expect(choices.map((choice) => choice?.['delta'])).toEqual([
      { role: 'assistant', content: '' },
      { reasoning_content: 'hm' },
      { content: 'Hel' },
      { content: 'lo' },
      {},
      undefined,
    ]);
    expect(choices.at(-2)?.['finish_reason']).toBe('stop');
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 15,
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 2 },
    };
    expect(chunks.at(-1)).toMatchObject({ id: 'r1', object: 'chat.completion.chunk', usage });
    expect(whole).toMatchObject({
      object: 'chat.completion',
      choices: [{ message: { content: 'Hello', reasoning_content: 'hm' }, finish_reason: 'stop' }],
      usage,
    });
  });

  test.each<[string, JsonObject, JsonObject]>([
    ['text beyond what was streamed', { result: 'Hello you' }, { content: 'Hello you' }],
    ['another text', { result: { text: 'Bye' } }, { content: 'Hello\n\nBye' }],
    ['nothing', { result: null }, { content: 'Hello' }],
    ['data', { result: { count: 3 } }, { content: 'Hello' }],
  ])('whose result is %s', (_, body, message) => {
    const { whole } = completed([chunk(0, 'text', 'Hello'), frame(1, 'e2a.complete', body)]);
    expect(whole).toMatchObject({ choices: [{ message }] });
  });

  test('without text has its data as JSON', () => {
    expect(completed([frame(0, 'e2a.complete', { result: { count: 3 } })]).whole).toMatchObject({
      choices: [{ message: { content: '{"count":3}' } }],
    });
  });

  test('ends with the calls of the caller’s functions', () => {
    const { chunks, whole } = completed([frame(0, 'e2a.complete', { result: { text: '', tool_calls: [CALL, 7] } })]);
    expect(chunks.at(-2)).toMatchObject({ choices: [{ delta: { tool_calls: [{ index: 0, ...CALL }] } }] });
    expect(whole).toMatchObject({
      choices: [{ finish_reason: 'tool_calls', message: { content: null, tool_calls: [CALL] } }],
    });
  });

  test.each([
    ['max_tokens', 'length'],
    ['refusal', 'content_filter'],
    ['end_turn', 'stop'],
  ])('that stopped for %s says %s', (stop_reason, finish_reason) => {
    const result = { text: 'x', stop_reason };
    expect(completed([frame(0, 'e2a.complete', { result })]).whole).toMatchObject({ choices: [{ finish_reason }] });
  });

  test('that fails is an error in the shape of OpenAI', () => {
    const body = { code: 'E2A.RATE_LIMITED', message: 'Too many.' };
    const { chunks, whole } = completed([chunk(0, 'text', 'Hel'), frame(1, 'e2a.error', body)]);
    const error = { message: 'Too many.', type: 'rate_limit_error', param: null, code: 'rate_limit_exceeded' };
    expect(chunks.at(-1)).toEqual({ error });
    expect(whole).toEqual({ status: 429, error });
  });

  test('shows a question, and the command that answers it', () => {
    const question = {
      question_id: 'q1',
      kind: 'permission' as const,
      title: 'May I?',
      options: [{ id: 'allow', name: 'Allow', kind: 'allow_once' as const }],
      asked_at: '',
      expires_at: '',
    };
    const asking = frame(0, 'acp.output_request', questionBody(question, null));
    const answer = new ChatAnswer(ABOUT);
    expect(JSON.stringify(answer.chunks(asking))).toMatch(/May I\?.*dragoman questions answer q1/);
  });
});

describe('a response', () => {
  const frames = [
    chunk(0, 'reasoning', 'hm'),
    chunk(1, 'text', 'Hel'),
    chunk(2, 'text', 'lo'),
    frame(3, 'e2a.complete', { result: { text: 'Hello', tool_calls: [CALL] }, usage: USAGE }),
  ];
  const eventsOf = () => {
    const answer = new ResponseAnswer(ABOUT);
    return [...answer.first(), ...frames.flatMap((one) => answer.events(one))];
  };

  test('has the same events under the same numbers, however often it is read', () => {
    const events = eventsOf();
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, index) => index));
    expect(eventsOf()).toEqual(events);
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.reasoning_text.delta',
      'response.reasoning_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.completed',
    ]);
  });

  test('ends with all of its items and the tokens', () => {
    expect(eventsOf().at(-1)?.['response']).toMatchObject({
      status: 'completed',
      output: [
        { type: 'reasoning', content: [{ text: 'hm' }] },
        { type: 'message', content: [{ type: 'output_text', text: 'Hello' }] },
        { type: 'function_call', call_id: 'c1', name: 'weather' },
      ],
      usage: {
        input_tokens: 10,
        input_tokens_details: { cached_tokens: 4 },
        output_tokens: 5,
        output_tokens_details: { reasoning_tokens: 2 },
        total_tokens: 15,
      },
    });
  });

  test('shows an open item while it is given', () => {
    const answer = new ResponseAnswer(ABOUT);
    answer.events(chunk(0, 'text', 'Hel'));
    expect(answer.response()).toMatchObject({
      status: 'in_progress',
      output: [{ status: 'in_progress', content: [{ text: 'Hel' }] }],
    });
  });

  test.each<[string, string, JsonObject]>([
    ['E2A.CANCELLED', 'response.failed', { status: 'cancelled', error: null }],
    ['E2A.TIMEOUT', 'response.failed', { status: 'failed', error: { message: 'x' } }],
  ])('that ended with %s ends with %s', (code, type, expected) => {
    const answer = new ResponseAnswer(ABOUT);
    const last = answer.events(frame(0, 'e2a.error', { code, message: 'x' })).at(-1);
    expect(last).toMatchObject({ type, response: expected });
  });
});
