import { type E2AResponse, newResponse } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import { FakeSurroundings } from '../test-support/fake-surroundings.ts';
import { AnswerPrinter, exitCodeOf } from './answer-printer.ts';

const text = (delta: string) => newResponse({ response_kind: 'e2a.chunk', body: { delta_kind: 'text', delta } });
const complete = (result: E2AResponse['body'][string]) =>
  newResponse({ response_kind: 'e2a.complete', is_final: true, status: 'succeeded', body: { result } });
const error = (body: E2AResponse['body']) =>
  newResponse({ response_kind: 'e2a.error', is_final: true, status: 'failed', body });

function print(frames: readonly E2AResponse[], options: { json?: boolean; isTTY?: boolean } = {}) {
  const surroundings = new FakeSurroundings({ isTTY: options.isTTY ?? false });
  const printer = new AnswerPrinter({ terminal: surroundings.terminal, json: options.json ?? false });
  for (const frame of frames) printer.frame(frame);
  printer.endLine();
  return { out: surroundings.out, notes: surroundings.notes };
}

test('text is shown as it arrives, and the result does not repeat it', () => {
  const { out } = print([text('hello '), text('world'), complete({ text: 'hello world' })]);
  expect(out).toBe('hello world\n');
});

test('a text that ends its line gets no second line end', () => {
  expect(print([text('tick\n'), complete({})]).out).toBe('tick\n');
});

test.each([
  ['plain text', 'hello', 'hello\n'],
  ['an object with its text in it', { content: 'hello' }, 'hello\n'],
  ['any other value', { ticks: 5 }, '{\n  "ticks": 5\n}\n'],
  ['nothing', null, 'null\n'],
])('an answer without chunks is its result: %s', (_, result, shown) => {
  expect(print([complete(result)]).out).toBe(shown);
});

test('values that are not text are shown only with --json', () => {
  const reasoning = newResponse({ response_kind: 'e2a.chunk', body: { delta_kind: 'reasoning', delta: 'hm' } });
  expect(print([reasoning, text('yes'), complete({})]).out).toBe('yes\n');
});

test('an error ends the line and is printed on stderr with its code', () => {
  const details = { suggestions: ['try later'] };
  const { out, notes } = print([text('so far'), error({ code: 'DEMO.X', message: 'it broke', details })]);
  expect(out).toBe('so far\n');
  expect(notes).toBe('error: DEMO.X: it broke\n  → try later\n');
});

test('an agent that is not well is reported with where to look', () => {
  const { notes } = print([error({ code: 'E2A.AGENT_ERROR', message: 'The agent could not be reached.' })]);
  expect(notes).toBe(
    'error: E2A.AGENT_ERROR: The agent could not be reached.\n  → on the machine of the server, run the checks: npx dragoman doctor\n',
  );
});

test('with --json each frame is a line, whatever it is', () => {
  const { out, notes } = print([text('a'), error({ code: 'X', message: 'm' })], { json: true });
  const lines = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.map(({ response_kind }) => response_kind)).toEqual(['e2a.chunk', 'e2a.error']);
  expect(notes).toBe('');
});

test('an agent cannot repaint a screen, including one at the end of a pipe; line ends and tabs stay', () => {
  for (const isTTY of [true, false]) {
    expect(print([text('\u001b[2Jhi\n\t\u202eyou')], { isTTY }).out).toBe('\\u{1b}[2Jhi\n\t\\u{202e}you\n');
  }
});

test('the last frame determines how the command ends', () => {
  expect(exitCodeOf(complete({}))).toBe(0);
  expect(exitCodeOf(error({ code: 'X' }))).toBe(1);
  expect(exitCodeOf({ ...complete({}), status: 'failed' })).toBe(1);
});
