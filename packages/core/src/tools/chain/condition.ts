import type { Json } from '@dragoman/protocols';
import { deepEqual } from '../../equality.ts';
import { evaluate, isPath } from './expression.ts';
import type { Scope } from './scope.ts';

/**
 * Whether a condition holds. `left OP right`, where left is an expression and right a number, `true`, `false`, `null`, a
 * quoted text or an expression; without an operator, whether left is truthy; nothing at all holds. Ordering null is false.
 * Throws, in plain words, on what is none.
 */
export function holds(condition: string, scope: Scope): boolean {
  const text = condition.trim();
  if (text === '') return true;
  const found = splitAt(text);
  if (found === undefined) return isTruthy(operand(text, scope));
  const { operator, left, right } = found;
  return OPERATORS[operator](operand(left, scope), operand(right, scope));
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

/** At the operator that comes first in the order above, wherever it stands outside of quotes. */
function splitAt(text: string): { operator: Operator; left: string; right: string } | undefined {
  const bare = text.replaceAll(QUOTED, (quoted) => ' '.repeat(quoted.length));
  for (const operator of Object.keys(OPERATORS) as Operator[]) {
    const at = bare.indexOf(operator);
    if (at === -1) continue;
    return { operator, left: text.slice(0, at).trim(), right: text.slice(at + operator.length).trim() };
  }
  return undefined;
}

function operand(text: string, scope: Scope): Json {
  if (isPath(text)) return evaluate(text, scope);
  if (Object.hasOwn(WORDS, text)) return WORDS[text] ?? null;
  if (/^(?:'[^']*'|"[^"]*")$/.test(text)) return text.slice(1, -1);
  const number = text === '' ? Number.NaN : Number(text);
  if (Number.isFinite(number)) return number;
  throw new Error(
    `a condition compares $.paths, numbers, true, false, null and quoted texts; got ${JSON.stringify(text.slice(0, 80))}`,
  );
}

function isTruthy(value: Json): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return Boolean(value);
}

/** Numbers with numbers, texts with texts; anything else has no order. */
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
