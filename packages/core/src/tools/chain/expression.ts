import { isObject, type Json, type JsonObject } from '@dragoman/protocols';

/**
 * The value of an expression: `$` is everything there is, `$.a.b` a walk through it, and anything else is itself. What is not
 * there is null. A number walks into a list: `$.found.0.name`.
 */
export function evaluate(expression: Json, context: JsonObject): Json {
  if (typeof expression !== 'string' || !isPath(expression)) return expression;
  if (expression === '$') return context;
  let value: Json = context;
  for (const name of expression.slice(2).split('.')) {
    const next = memberOf(value, name);
    if (next === undefined) return null;
    value = next;
  }
  return value;
}

/** A text that starts with `$` and is no path, a price say, is a text. */
export function isPath(text: string): boolean {
  return text === '$' || text.startsWith('$.');
}

function memberOf(value: Json, name: string): Json | undefined {
  if (Array.isArray(value)) return /^\d{1,9}$/.test(name) ? value[Number(name)] : undefined;
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
