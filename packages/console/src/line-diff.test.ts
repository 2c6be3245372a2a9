import { expect, test } from 'vitest';
import { lineDiff } from './line-diff.ts';

const shown = (before: string, now: string) =>
  lineDiff(before, now).map(({ kind, text }) => ({ same: ' ', removed: '-', added: '+' })[kind] + text);

test('a changed line is removed and added between the same ones', () => {
  expect(shown('a\nb\nc\nd', 'a\nx\nc\ny\nd')).toEqual([' a', '-b', '+x', ' c', '+y', ' d']);
  expect(shown('a', 'a')).toEqual([' a']);
  expect(shown('', 'a')).toEqual(['-', '+a']);
});

test('texts too long to be compared line by line are shown as replaced, and their equal ends as equal', () => {
  const long = (word: string) =>
    ['first', ...Array.from({ length: 3000 }, (_, at) => `${word} ${at}`), 'last'].join('\n');
  const lines = lineDiff(long('a'), long('b'));
  expect(lines).toHaveLength(6002);
  expect(lines[0]).toEqual({ kind: 'same', text: 'first' });
  expect(lines.at(-1)).toEqual({ kind: 'same', text: 'last' });
});
