import type { Json } from '@dragoman/protocols';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutTo } from '../text/cut-to.ts';
import { inLength } from './result-length.ts';

test('a result that is too long is the beginning of its JSON, wherever that is cut', () => {
  const long = fc.jsonValue({ maxDepth: 2 }).filter((value) => typeof value !== 'string');
  fc.assert(
    fc.property(long, fc.nat(60), (value, limit) => {
      const { data, truncated } = inLength(value as Json, limit);
      if (truncated) expect(data).toBe(cutTo(JSON.stringify(value), limit));
    }),
  );
});

test('a text that is too long is its own beginning, without half a character', () => {
  expect(inLength('ab😀', 3)).toEqual({ data: 'ab', truncated: true });
});
