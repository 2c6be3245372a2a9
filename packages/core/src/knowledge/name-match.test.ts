import { expect, test } from 'vitest';
import { nameMatch } from './name-match.ts';

test('a match of the whole name ranks before one of a part, and both before all others', () => {
  const thing = { id: 'FilterData', name: 'FilterData' };
  expect(nameMatch('filter data', thing)).toBe(2);
  expect(nameMatch('FilterData', thing)).toBe(2);
  expect(nameMatch('filter', thing)).toBe(1);
  expect(nameMatch('keep active users', thing)).toBe(0);
  expect(nameMatch('a', thing)).toBe(0);
});
