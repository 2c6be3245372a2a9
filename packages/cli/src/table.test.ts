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
