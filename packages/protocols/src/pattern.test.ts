import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pattern } from './pattern.ts';

test('a counted class is written out; a range, an escape and a class beyond counting stay as they are', () => {
  expect(pattern('^[ab]{3}-[0-9]{2}$').source).toBe('^[ab][ab][ab]-[0-9][0-9]$');
  for (const source of ['^a*$', '^[0-9]{2,3}$', '^\\[a]{2}$', '^[\\d]{2}$', '^[a]{129}$', '^\\d{4}$']) {
    expect(pattern(source).source, source).toBe(source);
  }
});

describe('it matches what the pattern matches', () => {
  test.each([
    '^[0-9a-f]{32}$',
    '^[A-Za-z0-9-]{5}$',
    '^[0-9]{1}$',
    '^[^a]{3}$',
    '[0-9]{2}',
    '^0x[a-fA-F0-9]{40}:[0-9]{0}$',
  ])('%s', (source) => {
    const reference = new RegExp(source);
    const valid = fc.stringMatching(reference);
    const strange = fc.constantFrom('', 'a', 'F', '0', '-', 'g', '\n', 'é', '\u0130', '😀');
    const spoiled = fc
      .tuple(valid, fc.nat(40), strange)
      .map(([text, at, character]) => text.slice(0, at) + character + text.slice(at + 1));
    fc.assert(
      fc.property(fc.oneof(valid, spoiled, fc.string()), (text) => {
        expect(pattern(source).test(text)).toBe(reference.test(text));
      }),
    );
  });
});
