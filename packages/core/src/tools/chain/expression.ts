import { isObject, type Json } from '@dragoman/protocols';
import type { Scope } from './scope.ts';

/**
 * The value of an expression: `$` is everything there is, `$.a.b` a walk through it, and anything else is itself. What is not
 * there is null. A number walks into a list: `$.found.0.name`.
 */
export function evaluate(expression: Json, scope: Scope): Json {
  if (typeof expression !== 'string' || !isPath(expression)) return expression;
  if (expression === '$') return scope.whole();
  let value: Json | undefined;
  // One name after the other, and none behind one that is not there: a path may be as long as a message.
  for (let start = 2; start <= expression.length; ) {
    const dot = expression.indexOf('.', start);
    const end = dot === -1 ? expression.length : dot;
    const name = expression.slice(start, end);
    value = start === 2 ? scope.member(name) : memberOf(value, name);
    if (value === undefined) return null;
    start = end + 1;
  }
  return value ?? null;
}

/** A text that starts with `$` and is no path, a price say, is a text. */
export function isPath(text: string): boolean {
  return text === '$' || text.startsWith('$.');
}

function memberOf(value: Json | undefined, name: string): Json | undefined {
  if (Array.isArray(value)) return /^\d{1,9}$/.test(name) ? value[Number(name)] : undefined;
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
