import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../json.ts';
import { addedUsage, CompletionFold, errorText } from './completion-fold.ts';

function folded(events: readonly Json[], mostCharacters?: number): CompletionFold {
  const fold = new CompletionFold(mostCharacters === undefined ? {} : { mostCharacters });
  for (const event of events) fold.apply(event);
  return fold;
}
const delta = (members: JsonObject, finish: string | null = null) => ({
  choices: [{ index: 0, delta: members, finish_reason: finish }],
});
const call = (index: number | undefined, members: JsonObject) =>
  delta({ tool_calls: [{ ...(index !== undefined && { index }), ...members }] });

describe('the answer of a model', () => {
  test('is put together from its chunks', () => {
    const usage = { prompt_tokens: 3, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 2 } };
    const fold = folded([
      delta({ role: 'assistant', content: '' }),
      delta({ reasoning: 'h' }),
      delta({ reasoning_content: 'm' }),
      delta({ content: 'Hel' }),
      delta({ content: 'lo' }, 'stop'),
      { choices: [], usage },
    ]);
    expect(fold).toMatchObject({ text: 'Hello', reasoning: 'hm', finishReason: 'stop' });
    expect(fold.usage).toEqual({ input_tokens: 3, output_tokens: 4, total_tokens: 7, cached_input_tokens: 2 });
  });

  test('may come whole', () => {
    const message = {
      role: 'assistant',
      content: 'Hello',
      tool_calls: [{ id: 'a', function: { name: 'f', arguments: '{}' } }],
    };
    const fold = folded([{ choices: [{ message, finish_reason: 'tool_calls' }] }]);
    expect(fold.text).toBe('Hello');
    expect(fold.calls).toEqual([{ id: 'a', name: 'f', arguments: '{}' }]);
  });

  test.each<[string, Json[]]>([
    [
      'by their index',
      [
        call(0, { id: 'a', function: { name: 'f', arguments: '{"x"' } }),
        call(1, { id: 'b', function: { name: 'g', arguments: '{}' } }),
        call(0, { function: { arguments: ':1}' } }),
      ],
    ],
    [
      'by their id, where a server counts all as 0',
      [
        call(0, { id: 'a', function: { name: 'f', arguments: '{"x":1}' } }),
        call(0, { id: 'b', function: { name: 'g', arguments: '{}' } }),
      ],
    ],
    [
      'with arguments that are an object',
      [
        call(0, { id: 'a', function: { name: 'f', arguments: { x: 1 } } }),
        call(1, { id: 'b', function: { name: 'g', arguments: {} } }),
      ],
    ],
  ])('has calls separated %s', (_, events) => {
    expect(folded(events).calls).toEqual([
      { id: 'a', name: 'f', arguments: '{"x":1}' },
      { id: 'b', name: 'g', arguments: '{}' },
    ]);
  });

  test.each<[Json]>([
    [null],
    [7],
    ['text'],
    [[]],
    [{}],
    [{ choices: 'x' }],
    [{ choices: [null] }],
    [{ choices: [{ delta: 7 }] }],
    [{ choices: [{ delta: { content: 7, tool_calls: [null, 7, { function: 3 }] } }] }],
    [{ usage: { prompt_tokens: -1 } }],
  ])('is not disturbed by %j', (event) => {
    const fold = folded([event]);
    expect([fold.text, fold.reasoning, fold.error, fold.usage]).toEqual(['', '', undefined, undefined]);
  });

  test('is too long when its text or the arguments of its calls are', () => {
    expect(folded([delta({ content: 'x'.repeat(10) })], 10).isTooLong).toBe(false);
    expect(folded([delta({ content: 'x'.repeat(11) })], 10).isTooLong).toBe(true);
    expect(folded([call(0, { function: { arguments: 'x'.repeat(10) } })], 10).isTooLong).toBe(true);
  });
});

test.each<[Json, string]>([
  ['plain', 'plain'],
  [{ message: 'a' }, 'a'],
  [{ error: { message: 'b' } }, 'b'],
  [{ detail: [{ msg: 'c' }] }, '[{"msg":"c"}]'],
  [{ code: 7 }, '{"code":7}'],
])('the sentence in the error %j is %s', (error, text) => {
  expect(errorText(error)).toBe(text);
});

test('tokens of turns are added, as far as they are known', () => {
  const one = { input_tokens: 1, output_tokens: 2, total_tokens: 3, reasoning_tokens: 1 };
  expect(addedUsage(undefined, undefined)).toBeUndefined();
  expect(addedUsage(one, undefined)).toBe(one);
  expect(addedUsage(one, one)).toEqual({ input_tokens: 2, output_tokens: 4, total_tokens: 6, reasoning_tokens: 2 });
});
