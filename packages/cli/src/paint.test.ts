import { expect, test } from 'vitest';
import { paint } from './paint.ts';

test('colours are there only where they are welcome', () => {
  expect(paint(true).red('x')).toBe('\u001b[31mx\u001b[39m');
  expect(paint(false).red('x')).toBe('x');
});
