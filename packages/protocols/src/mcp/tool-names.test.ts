import fc from 'fast-check';
import { expect, test } from 'vitest';
import { uniqueToolNames } from './tool-names.ts';

test('names are letters, digits and underscores, and no two are the same', () => {
  expect(uniqueToolNames(['a-b', 'a.b', 'a_b', 'files/read'])).toEqual(['a_b', 'a_b_2', 'a_b_3', 'files_read']);
  expect(uniqueToolNames(['get-answer'], ['get_answer'])).toEqual(['get_answer_2']);
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 60 })), (names) => {
      const unique = uniqueToolNames(names);
      expect(new Set(unique).size).toBe(names.length);
      for (const name of unique) expect(name).toMatch(/^[A-Za-z0-9_]{1,48}$/);
    }),
  );
});
