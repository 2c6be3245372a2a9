import { describe, expect, test } from 'vitest';
import { explainBytes, explainText, takesNumber } from './json-explain.ts';

describe('a fault', () => {
  test('is empty for valid text', () => {
    expect(explainText('{"a":[1,"b",null,{"c":true}]}')).toBeUndefined();
    expect(explainBytes(new TextEncoder().encode('äé€😀'))).toBeUndefined();
  });

  test('is the first one of several', () => {
    expect(explainText('{"a":-0,"a":1,}', { numbers: 'exact' })).toMatchObject({ code: 'inexact_number', offset: 5 });
  });

  test('names the member it is in, through arrays and keys that need escapes', () => {
    expect(explainText('{"a/b":[0,{"c~d":[1,2,x]}]}')).toMatchObject({ pointer: '/a~1b/1/c~0d/2', offset: 22 });
  });

  test('in a key names the object, for the key is not known yet', () => {
    expect(explainText('{a:1}')).toMatchObject({ pointer: '', offset: 1 });
    expect(explainText('{"a":{"b":1,c:2}}')).toMatchObject({ pointer: '/a', offset: 12 });
  });

  test('shows the received text, shortened and with control characters escaped', () => {
    expect(explainText(`[\u0007${'x'.repeat(100)}]`)?.message).toBe(
      `expected a JSON value; got "\\u0007${'x'.repeat(23)}…" at offset 1`,
    );
    expect(explainText('[\ufeff\u00a0\u2028\u202e\u{e0001}]')?.message).toContain(
      '"\\ufeff\\u00a0\\u2028\\u202e\\udb40\\udc01]"',
    );
  });

  test('stays short when a key is long', () => {
    const key = JSON.stringify('k'.repeat(10_000));
    expect(explainText(`{${key}:1,${key}:2}`)?.message.length).toBeLessThan(100);
    expect(explainText(`{${key} 1}`)?.message.length).toBeLessThan(100);
  });
});

describe('the fix', () => {
  test.each([
    ['[True]', 'write true'],
    ['[FALSE]', 'write false'],
    ['[None]', 'write null'],
    ['[nil]', 'write null'],
    ['[undefined]', 'write null'],
    ['[NaN]', 'write null: JSON has no such number'],
    ['[inf]', 'write null: JSON has no such number'],
    ["['a']", 'put strings in double quotes'],
    ['[`a`]', 'put strings in double quotes'],
    ['[1, // one\n2]', 'remove the comment: JSON has none'],
    ['# config\n{}', 'remove the comment: JSON has none'],
    ['{} // done', 'remove the comment: JSON has none'],
    ['[+1]', 'remove the plus sign'],
    ['[-.5]', 'put a digit before the point'],
    ['[5.]', 'put a digit after the point'],
    ['[007]', 'remove the leading zero'],
    ['[0b11]', 'write the number in decimal'],
    ['{a:1}', 'put the key in double quotes'],
    ['{$a:1}', 'put the key in double quotes'],
    ['{"a":1,}', 'remove the last comma'],
    ['[1,]', 'remove the last comma'],
    ['{"a":1 "b":2}', 'put a comma before it'],
    ['[1 -2]', 'put a comma before it'],
    ['{} {}', 'send each value as a separate message'],
  ])('for %s is: %s', (text, suggestion) => {
    expect(explainText(text)).toMatchObject({ code: 'not_json', suggestion });
  });

  test.each([['{,}'], ['{"a":1,'], ['[1'], ['[@]'], ['[toString]'], ['[valueOf]'], ['[__proto__]'], ['[1]]']])(
    'for %s is not guessed at',
    (text) => {
      expect(explainText(text)).not.toHaveProperty('suggestion');
    },
  );
});

describe('numbers', () => {
  test.each([
    ['0', true],
    ['-0', false],
    ['-0.5', true],
    ['0.1', true],
    ['0.10000000000000001', true],
    ['0.12345678901234567', false],
    ['0.1000000000000000055511151231257827', false],
    ['333333333.33333329', false],
    ['333333333.3333333', true],
    ['1e21', true],
    ['1E+21', true],
    ['1000000000000000000000', true],
    ['1000000000000000000001', false],
    ['4.50', true],
    ['2e-3', true],
    ['5e-324', true],
    ['2e-324', false],
    ['1.7976931348623157e308', true],
    ['1.7976931348623159e308', false],
    ['9007199254740994', true],
    ['36028797018963968', false],
    ['123456789012345678', false],
    ['0e999999999', true],
  ])('%s survives a double: %s', (literal, survives) => {
    expect(takesNumber(literal, { numbers: 'exact' })).toBe(survives);
  });

  test('only have to be finite and short by default', () => {
    expect(['-0', '9007199254740993', '1e-400'].map((literal) => takesNumber(literal))).toEqual([true, true, true]);
    expect(['1e400', '1'.repeat(65)].map((literal) => takesNumber(literal))).toEqual([false, false]);
  });
});
