import { isObject, type Json, show } from '@dragoman/protocols';
import type { Scope } from './scope.ts';

/**
 * The value of an expression: `$` is the whole scope, `$.a.b` a path into it (a number is an index of a list:
 * `$.found.0.name`), and anything else is a literal value. A missing value is null.
 */
export function evaluate(expression: Json, scope: Scope): Json {
  return find(expression, scope) ?? null;
}

/** Like `evaluate`, but `undefined` if a path finds nothing. */
export function find(expression: Json, scope: Scope): Json | undefined {
  if (typeof expression !== 'string' || !isPath(expression)) return expression;
  if (expression === '$') return scope.whole();
  let value: Json | undefined;
  // The path is not split up front: it may be as long as a message, and the walk stops at the first missing name.
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

/** Whether the text is a path. Other texts that start with `$`, such as a price, are literal. */
export function isPath(text: string): boolean {
  return text === '$' || text.startsWith('$.');
}

/** Whether the text is meant as a path, including `$[0]`, which is invalid but hardly a literal. */
export function looksLikePath(text: string): boolean {
  return isPath(text) || text.startsWith('$[');
}

/** Thrown for an agent's invalid path or condition. */
export class Unclear extends Error {
  readonly suggestions: readonly string[];

  constructor(message: string, suggestions: readonly string[] = []) {
    super(message);
    this.suggestions = suggestions;
  }
}

/**
 * Throws for a path that contains a computation, because it would never find anything. Names of members may have blanks
 * and signs, as in `First name` or `Price (EUR)`, so only obvious computations are refused.
 */
export function checkExpression(expression: Json): void {
  if (typeof expression !== 'string' || !looksLikePath(expression)) return;
  checkNames(expression);
  if (!COMPUTED.test(expression)) return;
  throw new Unclear(`${show(expression)} is not a path, and expressions are not computed; a path is $.name.name`, [
    'compute it with a tool, or put a text that is not a path into input',
  ]);
}

/** Throws if the path has brackets or empty names. */
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

/** A comparison, a choice, a second path, or arithmetic with a number or a path. */
const COMPUTED = /==|!=|>=|<=|&&|\|\||\?\?|\s\$|\s[-+*/%=<>]\s*[\d$]/;
const LONGEST_SHOWN = 200;
