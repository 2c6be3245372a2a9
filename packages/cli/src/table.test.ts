import { expect, test } from 'vitest';
import { table } from './table.ts';

test('columns stand in line, and no line ends in spaces', () => {
  expect(
    table(
      ['A', 'LONG'],
      [
        ['one', 'x'],
        ['t', ''],
      ],
    ),
  ).toBe('A    LONG\none  x\nt\n');
});

test('columns stand in line behind wide characters, too', () => {
  expect(
    table(
      ['A', 'B'],
      [
        ['日本', 'x'],
        ['abc', 'y'],
      ],
    ),
  ).toBe('A     B\n日本  x\nabc   y\n');
});

test('on a screen the widest columns are cut until a row fits', () => {
  const rows = [['id-1', 'a very long description of it', 'https://example.com/a/very/long/path']];
  const text = table(['ID', 'DESCRIPTION', 'URL'], rows, { columns: 40 });
  expect(text).toBe('ID    DESCRIPTION       URL\nid-1  a very long des…  https://example…\n');
  expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(40);
  expect(table(['ID', 'DESCRIPTION', 'URL'], rows)).toContain('https://example.com/a/very/long/path');
});

test('the first column is never cut: its name is what other commands take', () => {
  const rows = [['key-0123456789ab', 'a very long description of it']];
  expect(table(['KEY', 'DESCRIPTION'], rows, { columns: 20 })).toContain('key-0123456789ab  a very …');
});
