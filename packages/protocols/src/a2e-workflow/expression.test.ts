import { expect, test } from 'vitest';
import { type Expression, isExpression, parseExpression } from './expression.ts';

/** With every operation in parentheses. */
function written(expression: Expression | string): string {
  if (typeof expression === 'string') return `fault: ${expression}`;
  if (expression.kind === 'number') return String(expression.value);
  if (expression.kind === 'field') return `{${expression.name}}`;
  return `(${written(expression.left)} ${expression.operation} ${written(expression.right)})`;
}

test.each([
  ['{price} * {quantity}', '({price} multiply {quantity})'],
  ['{a} - {b} - 2', '(({a} subtract {b}) subtract 2)'],
  ['{a} + {b} * 3 % 2', '({a} add (({b} multiply 3) modulo 2))'],
  ['({a} + {b}) / 1.5e1', '(({a} add {b}) divide 15)'],
  ['-{a} * .5', '((-1 multiply {a}) multiply 0.5)'],
  ['{a}-1', '({a} subtract 1)'],
  ['{ address.zip }', '{address.zip}'],
])('%s is read as %s', (text, expected) => {
  expect(isExpression(text)).toBe(true);
  expect(written(parseExpression(text))).toBe(expected);
});

test.each([
  ['{price} *', 'must have a number, a {field} or a parenthesis after *; nothing follows'],
  ['{price} {quantity}', 'must have an operator (+ - * / %) before {quantity}'],
  ['({price} + 1', 'must close every parenthesis'],
  ['{price} * quantity', 'must have a number, a {field} or a parenthesis after *; got quantity'],
  ['{price', 'must have a number, a {field} or a parenthesis at its beginning; got {'],
  ['{} + 1', 'must name a field in braces; got {}'],
  ['{a.constructor}', expect.stringContaining('in braces; got {a.constructor}')],
  [`${'('.repeat(33)}{a}${')'.repeat(33)}`, 'must be nested at most 32 levels deep'],
  [`${'-'.repeat(400)}{a}`, 'must be nested at most 32 levels deep'],
])('%s is refused with the reason', (text, fault) => {
  expect(parseExpression(text)).toEqual(fault);
});
