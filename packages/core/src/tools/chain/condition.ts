import { type Json, show } from '@dragoman/protocols';
import { deepEqual } from '../../json/equality.ts';
import { checkNames, evaluate, find, looksLikePath, Unclear } from './expression.ts';
import type { Scope } from './scope.ts';

/** Whether the condition is true for the data of the scope. */
export type Condition = (scope: Scope) => boolean;

/**
 * Compiles a condition: `left OP right`, where each side is a path, a number, `true`, `false`, `null` or a quoted text.
 * Without an operator it tests whether left is truthy; an empty condition is true. Comparing the order of null is
 * false. Throws `Unclear` for anything else; the compiled condition throws it for the `length` of a list or a text.
 */
export function conditionOf(condition: string): Condition {
  const text = condition.trim();
  if (text === '') return () => true;
  const { operator, left, right } = splitAt(text);
  const leftOf = operandOf(left);
  if (operator === undefined) return (scope) => isTruthy(leftOf(scope));
  const rightOf = operandOf(right);
  return (scope) => OPERATORS[operator](leftOf(scope), rightOf(scope));
}

type Operator = keyof typeof OPERATORS;

const OPERATORS = {
  '==': (left: Json, right: Json) => deepEqual(left, right),
  '!=': (left: Json, right: Json) => !deepEqual(left, right),
  '>=': ordered((order) => order >= 0),
  '<=': ordered((order) => order <= 0),
  '>': ordered((order) => order > 0),
  '<': ordered((order) => order < 0),
} as const;

/** Splits at the first operator of `OPERATORS` that occurs outside of quotes. */
function splitAt(text: string): { operator: Operator | undefined; left: string; right: string } {
  const bare = text.replaceAll(QUOTED, (quoted) => ' '.repeat(quoted.length));
  for (const operator of Object.keys(OPERATORS) as Operator[]) {
    const at = bare.indexOf(operator);
    if (at === -1) continue;
    return { operator, left: text.slice(0, at).trim(), right: text.slice(at + operator.length).trim() };
  }
  return { operator: undefined, left: text, right: '' };
}

/** Compiles one side of a comparison. */
function operandOf(text: string): (scope: Scope) => Json {
  if (looksLikePath(text)) {
    // A path with blanks or signs is probably a longer expression: as a path it would find nothing and the condition
    // would be silently false.
    if (SIGN.test(text)) throw unclear(text);
    checkNames(text);
    return (scope) => find(text, scope) ?? withoutLength(text, scope);
  }
  if (Object.hasOwn(WORDS, text)) return () => WORDS[text] ?? null;
  if (/^(?:'[^']*'|"[^"]*")$/.test(text)) return () => text.slice(1, -1);
  const number = text === '' ? Number.NaN : Number(text);
  if (Number.isFinite(number)) return () => number;
  throw unclear(text);
}

function unclear(text: string): Unclear {
  const mistake = MISTAKES.find(({ made }) => made.test(text));
  const words = `${show(text)} is neither a path without blanks and signs, such as $.list.0, nor a number, true, false, null or a quoted text; a condition is one of them, or two with one of ${Object.keys(OPERATORS).join(' ')} between them`;
  return new Unclear(words, mistake === undefined ? [] : [mistake.fix]);
}

/** Null, as for any missing member. Throws for `length` of a list or a text, which is a mistake worth reporting. */
function withoutLength(path: string, scope: Scope): null {
  if (!path.endsWith(LENGTH)) return null;
  const owner = path.slice(0, -LENGTH.length);
  const whole = evaluate(owner, scope);
  if (!Array.isArray(whole) && typeof whole !== 'string') return null;
  throw new Unclear(`${show(path)}: the length of lists and texts is not available`, [
    `write ${show(owner)} alone: it is true unless it is empty`,
  ]);
}

function isTruthy(value: Json): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return Boolean(value);
}

/** Compares numbers with numbers and texts with texts; false for anything else. */
function ordered(holdsFor: (order: number) => boolean) {
  return (left: Json, right: Json): boolean => {
    const isOrdered =
      (typeof left === 'number' && typeof right === 'number') ||
      (typeof left === 'string' && typeof right === 'string');
    if (!isOrdered) return false;
    return holdsFor(left < right ? -1 : left > right ? 1 : 0);
  };
}

const WORDS: Readonly<Record<string, Json>> = { true: true, false: false, null: null };
const QUOTED = /'[^']*'|"[^"]*"/g;
/** Characters that are not allowed in names of a condition, besides brackets. */
const SIGN = /[\s(){}"'`=!<>&|+*?,;]/;
/** Common mistakes, and the correct syntax. */
const MISTAKES: readonly { readonly made: RegExp; readonly fix: string }[] = [
  { made: /\s(?:and|or)\s|&&|\|\|/i, fix: 'a condition is one comparison; put a branch behind a branch' },
  { made: /[<!]$/, fix: 'write != for not equal' },
  { made: /=$/, fix: 'write >= or <=' },
  { made: /=|\sis\s/i, fix: 'write == for equal' },
  { made: /^(?:!|not\s)/i, fix: 'compare with == false, or == null' },
  { made: /\s(?:in|contains|like|matches)\s/i, fix: 'compute it with a tool, and compare the result' },
];
const LENGTH = '.length';
