import { isObject, type Json } from '../json.ts';
import type { Issue } from '../outcome.ts';
import { pointerTo } from '../pointer.ts';
import { Opaque } from '../schema.ts';
import { clip, show } from '../validation.ts';
import { renamed, type Shape } from './operations/description.ts';
import { FieldText, isPathReference, PathText } from './value.ts';

/** The spec's ten operators, and the two of Conditional that look at one value only. */
export const OPERATORS = [
  '==',
  '!=',
  '>',
  '<',
  '>=',
  '<=',
  'in',
  'contains',
  'startsWith',
  'endsWith',
  'exists',
  'empty',
] as const;

/** A condition of FilterData, tested on a field of each item. */
export const FieldCondition = {
  type: 'object',
  required: ['field', 'operator'],
  properties: { field: FieldText, operator: { enum: OPERATORS }, value: Opaque },
  additionalProperties: false,
} as const;

/** The condition of Conditional, tested on a value of the data model. */
export const PathCondition = {
  type: 'object',
  required: ['path', 'operator'],
  properties: { path: PathText, operator: { enum: OPERATORS }, value: Opaque },
  additionalProperties: false,
} as const;

/** Other implementations use `isEmpty`, and agents use the operators of programming languages. */
export function operatorAliases(at: string) {
  return renamed(at, { isEmpty: 'empty', '===': '==', '!==': '!=', '=': '==' });
}

/** The problem if an operator's value is missing or has the wrong type; `undefined` if there is none. */
export function conditionIssue(
  condition: Json | undefined,
  ...pointer: readonly (string | number)[]
): Issue | undefined {
  if (!isObject(condition) || typeof condition['operator'] !== 'string') return undefined;
  if (presentIn(condition) !== undefined) return undefined;
  const { operator, value } = condition;
  if (value === undefined) {
    const message = `value is required for ${clip(operator)} but missing`;
    return { pointer: pointerTo('', ...pointer, 'value'), code: 'required', message };
  }
  const needs = NEEDS.get(operator);
  if (needs === undefined || needs.fits(value) || isPathReference(value)) return undefined;
  const message = `value must be ${needs.words} for ${operator}; got ${show(value)}`;
  const listed = operator === 'in' && (typeof value === 'string' || typeof value === 'number');
  return {
    pointer: pointerTo('', ...pointer, 'value'),
    code: 'type',
    message,
    ...(listed && { suggestion: `write [${show(value)}]` }),
  };
}

/**
 * The branch of a Conditional in which the tested value exists. `exists` and `empty` test for a value, so for them a
 * missing value is not an error.
 */
export function presentIn(condition: Json | undefined): 'ifTrue' | 'ifFalse' | undefined {
  if (!isObject(condition)) return undefined;
  if (condition['operator'] === 'exists') return 'ifTrue';
  return condition['operator'] === 'empty' ? 'ifFalse' : undefined;
}

/** The shapes that an ordering operator can compare; `undefined`, any shape, for other operators. */
export function comparable(condition: Json | undefined): readonly Shape[] | undefined {
  return isOrdered(condition) ? ['number', 'string'] : undefined;
}

/** Whether the condition's operator compares by order, not by equality. */
export function isOrdered(condition: Json | undefined): boolean {
  return isObject(condition) && ORDERED.has(condition['operator']);
}

const ORDERED: ReadonlySet<Json | undefined> = new Set(['>', '<', '>=', '<=']);

interface Need {
  readonly words: string;
  readonly fits: (value: Json) => boolean;
}

const ordered: Need = {
  words: 'a number, a string or a {path}',
  fits: (value) => typeof value === 'number' || typeof value === 'string',
};
const text: Need = { words: 'a string or a {path}', fits: (value) => typeof value === 'string' };

/** Operators compare without conversion: `>` on a boolean is never true, so it is a mistake. */
const NEEDS: ReadonlyMap<string, Need> = new Map([
  ['>', ordered],
  ['<', ordered],
  ['>=', ordered],
  ['<=', ordered],
  ['in', { words: 'an array or a {path}', fits: (value) => Array.isArray(value) }],
  ['startsWith', text],
  ['endsWith', text],
]);
