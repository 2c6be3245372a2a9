import { describe, expect, test } from 'vitest';
import { linearPattern } from './linear-pattern.ts';

describe('an untrusted pattern', () => {
  test.each([
    ['a group', `(?:${'a'.repeat(900)}){1000}`],
    ['one after another', 'a{1000}'.repeat(140)],
    ['from none', 'a{0,1000}'.repeat(50)],
    ['and more', 'a{900,}'.repeat(50)],
    ['a group in a group', '(?:(?:ab){30}c){30}'.repeat(10)],
    ['a class with brackets in it', `(?:${'[])]'.repeat(200)}){100}`],
    ['a class with a named one', `(?:${'[[:alpha:])]'.repeat(70)}){100}`],
    ['behind a quoted bracket', `\\Q[\\E(?:${'a'.repeat(900)}){1000}`],
    ['behind an escaped bracket', `\\[(?:${'a'.repeat(900)}){1000}`],
    ['a quoted text', `(?:\\Q${'('.repeat(900)}\\E){1000}`],
  ])('is refused where its expanded repetitions are too much: %s', (_, pattern) => {
    expect(() => linearPattern(pattern)).toThrow(
      /with its repetitions expanded it has \d+ parts; at most 4000 are allowed/,
    );
  });

  test('is refused unread where it is too long itself', () => {
    expect(() => linearPattern('['.repeat(1_000_000))).toThrow('it has 1000000 characters; at most 4000 are allowed');
  });

  test('is refused with too many classes of Unicode', () => {
    expect(() => linearPattern(`(?i)[^${'\\pL'.repeat(330)}]`)).toThrow(
      'it has 330 Unicode classes; at most 40 are allowed',
    );
  });

  test.each([
    ['\\d{3}-\\d{4}', '555-1234'],
    ['[A-Za-z0-9._%+-]{1,64}@(?:[a-z0-9-]{1,63}\\.){1,8}[a-z]{2,63}', 'ada@mail.example.org'],
    ['(?:[^,]{0,100},){3}', 'a,b,c,'],
    ['\\x{2028}|\\p{L}{2,200}', 'Ångström'],
    ['[{900}]{2}', '{9'],
    ['\\Qa{1000}\\E', 'a{1000}'],
    ['.{0,1000}x.{0,1000}', 'x'],
  ])('is taken as it is meant: %s', (pattern, text) => {
    expect(linearPattern(pattern).matches(text)).toBe(true);
  });
});
