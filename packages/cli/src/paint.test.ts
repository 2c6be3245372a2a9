import { expect, test } from 'vitest';
import { paint, printable } from './paint.ts';

test('colours are there only where they are welcome', () => {
  expect(paint(true).red('x')).toBe('\u001b[31mx\u001b[39m');
  expect(paint(false).red('x')).toBe('x');
});

test('a stranger cannot move the cursor or talk to the terminal', () => {
  expect(printable('a\u001b[2Jb\u0007c\u009b1md\re')).toBe('a[2Jbc1mde');
});

test('line ends, tabs and every script stay', () => {
  expect(printable('a\n\tü 漢字 👋')).toBe('a\n\tü 漢字 👋');
});
