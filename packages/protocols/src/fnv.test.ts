import { expect, test } from 'vitest';
import { fnv1a } from './fnv.ts';

test('the digits of a text are eight, always the same, and others for another text or start', () => {
  expect(fnv1a('')).toBe('811c9dc5');
  expect(fnv1a('a')).toBe('e40c292c');
  expect(fnv1a('a', 0x01234567)).not.toBe(fnv1a('a'));
  const many = Array.from({ length: 1000 }, (_, index) => fnv1a(`response-${index}`));
  expect(new Set(many).size).toBe(1000);
  for (const digits of many) expect(digits).toMatch(/^[0-9a-f]{8}$/);
});
