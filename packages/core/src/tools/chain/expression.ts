import { isObject, type Json, show } from '@dragoman/protocols';
import type { Scope } from './scope.ts';

/**
 * The value of an expression: `$` is everything there is, `$.a.b` a walk through it, and anything else is itself. What is not
 * there is null. A number walks into a list: `$.found.0.name`.
 */
export function evaluate(expression: Json, scope: Scope): Json {
  return find(expression, scope) ?? null;
}

/** The same, but `undefined` where a path finds nothing. */
export function find(expression: Json, scope: Scope): Json | undefined {
  if (typeof expression !== 'string' || !isPath(expression)) return expression;
  if (expression === '$') return scope.whole();
  let value: Json | undefined;
  // One name after the other, and none behind one that is not there: a path may be as long as a message.
  for (let start = 2; start <= expression.length; ) {
    const dot = expression.indexOf('.', start);
    const end = dot === -1 ? expression.length : dot;
    const name = expression.slice(start, end);
    value = start === 2 ? scope.member(name) : memberOf(value, name);
    if (value === undefined) return undefined;
    start = end + 1;
  }
  return value;
}

/** A text that starts with `$` and is not a path, a price say, is a text. */
export function isPath(text: string): boolean {
  return text === '$' || text.startsWith('$.');
}

/** Whether the text is meant as a path: `$[0]` is invalid as one, and hardly a price. */
export function looksLikePath(text: string): boolean {
  return isPath(text) || text.startsWith('$[');
}

/** Thrown for an invalid path or condition of an agent, in plain words. */
export class Unclear extends Error {
  readonly suggestions: readonly string[];

  constructor(message: string, suggestions: readonly string[] = []) {
    super(message);
    this.suggestions = suggestions;
  }
}

/**
 * Throws on an expression that would only ever find nothing, because it is more than a path. Members of data may have blanks and
 * signs in their names, `First name` or `Price (EUR)`, so only what is hardly one of them is refused.
 */
export function checkExpression(expression: Json): void {
  if (typeof expression !== 'string' || !looksLikePath(expression)) return;
  checkNames(expression);
  if (!COMPUTED.test(expression)) return;
  throw new Unclear(`${show(expression)} is not a path, and expressions are not computed; a path is $.name.name`, [
    'compute it with a tool, or put a text that is not a path into input',
  ]);
}

/** Characters that are not allowed in a path. */
export function checkNames(path: string): void {
  if (/[[\]]/.test(path)) {
    const dotted = path.replaceAll(/\[(?:(\d{1,9})|'([^'.[\]]+)'|"([^".[\]]+)")\]/g, '.$1$2$3');
    const words = `${show(path)} has brackets; write an index as a name, as in $.list.0`;
    throw new Unclear(words, /[[\]]/.test(dotted) || dotted.length > LONGEST_SHOWN ? [] : [`write ${dotted}`]);
  }
  if (path !== '$' && /\.(?:\.|$)/.test(path)) {
    throw new Unclear(`${show(path)} has a dot without a name after it; a path is $.name.name`);
  }
}

function memberOf(value: Json | undefined, name: string): Json | undefined {
  if (Array.isArray(value)) return /^\d{1,9}$/.test(name) ? value[Number(name)] : undefined;
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** Comparing, choosing, a second path, or a number that something is done with. */
const COMPUTED = /==|!=|>=|<=|&&|\|\||\?\?|\s\$|\s[-+*/%=<>]\s*[\d$]/;
const LONGEST_SHOWN = 200;
