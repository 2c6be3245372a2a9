import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pattern } from './pattern.ts';

test('a run of one class is asked by length and by what does not belong; any other pattern stays as it is', () => {
  expect(pattern('^[0-9a-f]{32}$')).not.toBeInstanceOf(RegExp);
  for (const source of ['^a*$', '^[^a]{3}$', '^[0-9]{2,3}$', '[0-9]{2}', '^[a]{2}|b$', '^[\\\\d]{2}$', '^[0-9a-f]+$']) {
    expect(pattern(source), source).toBeInstanceOf(RegExp);
  }
});

describe('it says what the regular expression says', () => {
  test.each(['^[0-9a-f]{32}$', '^[A-Za-z0-9-]{5}$', '^[0-9]{1}$'])('%s', (source) => {
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
