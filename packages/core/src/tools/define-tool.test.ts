import { expect, test } from 'vitest';
import { defineTool, isToolSpec, problemOf } from './define-tool.ts';

const run = () => 1;

test.each([
  [{ name: 'two words', input: {}, run }, 'name must be 1 to 128 letters'],
  [{ input: {}, run }, 'got nothing'],
  [{ name: 'x', run }, 'input of x must be a JSON Schema'],
  [{ name: 'x', input: [], run }, 'input of x must be a JSON Schema'],
  [{ name: 'x', input: {} }, 'run of x must be a function'],
  [{ name: 'x', input: {}, run, tags: 'a' }, 'tags of x must be a list'],
])('%j is refused in words', (spec, words) => {
  expect(problemOf(spec)).toContain(words);
  expect(() => defineTool(spec as never)).toThrow(words);
});

test('a tool is known by what it has, not by who made it', () => {
  expect(isToolSpec(defineTool({ name: 'x', input: { type: 'object' }, run }))).toBe(true);
  expect(isToolSpec({ name: 'x', input: {}, run })).toBe(true);
  expect(isToolSpec({ name: 'x' })).toBe(false);
});
