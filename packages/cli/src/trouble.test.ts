import { expect, test } from 'vitest';
import { FakeSurroundings } from '../test-support/fake-surroundings.ts';
import { printTrouble, type Trouble } from './trouble.ts';

function printed(trouble: Trouble, { json = false } = {}): string {
  const surroundings = new FakeSurroundings();
  printTrouble(trouble, surroundings.terminal, json);
  return surroundings.notes;
}

test('the error comes first, then each problem with its suggestion, then the fixes', () => {
  const issues = [{ pointer: '/port', code: 'type', message: 'port must be a number', suggestion: 'write 7420' }];
  expect(printed({ code: 'bad', message: 'it has a problem', issues, fixes: ['look closer'] })).toBe(
    'error: it has a problem\n  port must be a number\n    → write 7420\n  → look closer\n',
  );
});

test('the text output repeats nothing; the JSON output has everything', () => {
  const issues = [{ pointer: '/text', code: 'required', message: 'text is required', suggestion: 'give a text' }];
  const trouble = {
    code: 'bad',
    message: 'word_count: text is required',
    issues,
    fixes: ['give a text', 'see --help'],
  };
  expect(printed(trouble)).toBe('error: word_count: text is required\n    → give a text\n  → see --help\n');
  expect(JSON.parse(printed(trouble, { json: true })).error).toEqual(trouble);
});
