import { isObject, type Json } from '@dragoman/protocols';
import { deepEqual, identity, isScalar } from '../json/equality.ts';

/** Whether a condition is true for its left side. `undefined` is a missing value. */
export type Test = (left: Json | undefined) => boolean;

/**
 * Compiles an operator with its right side. Every operator accepts every value and converts none: `>` compares only two
 * numbers or two strings, `in` and `contains` compare whole values, and a missing value meets only `!=` and `empty`.
 */
export function compileTest(operator: string, right: Json): Test | undefined {
  return Object.hasOwn(TESTS, operator) ? TESTS[operator]?.(right) : undefined;
}

const TESTS: Readonly<Record<string, (right: Json) => Test>> = {
  '==': equal,
  '!=': (right) => {
    const same = equal(right);
    return (left) => !same(left);
  },
  '>': ordered((left, right) => left > right),
  '<': ordered((left, right) => left < right),
  '>=': ordered((left, right) => left >= right),
  '<=': ordered((left, right) => left <= right),
  in: (right) => (Array.isArray(right) ? oneOf(right) : NEVER),
  contains: (right) => (left) => {
    if (typeof left === 'string') return typeof right === 'string' && left.includes(right);
    if (!Array.isArray(left)) return false;
    return isScalar(right) ? left.includes(right) : left.some((item) => deepEqual(item, right));
  },
  startsWith: (right) => {
    if (typeof right !== 'string') return NEVER;
    return (left) => typeof left === 'string' && left.startsWith(right);
  },
  endsWith: (right) => {
    if (typeof right !== 'string') return NEVER;
    return (left) => typeof left === 'string' && left.endsWith(right);
  },
  exists: () => (left) => left !== undefined && left !== null,
  empty: () => isEmpty,
};

function equal(right: Json): Test {
  if (isScalar(right)) return (left) => left === right;
  return (left) => left !== undefined && deepEqual(left, right);
}

function ordered(holds: (left: number | string, right: number | string) => boolean): (right: Json) => Test {
  return (right) => {
    if (typeof right === 'number') return (left) => typeof left === 'number' && holds(left, right);
    if (typeof right === 'string') return (left) => typeof left === 'string' && holds(left, right);
    return NEVER;
  };
}

/** Looks values up in sets, so that long lists are not searched for each item. */
function oneOf(list: readonly Json[]): Test {
  const scalars = new Set<Json | undefined>(list.filter(isScalar));
  const others = new Set(list.filter((item) => !isScalar(item)).map(identity));
  if (others.size === 0) return (left) => scalars.has(left);
  return (left) => scalars.has(left) || (left !== undefined && !isScalar(left) && others.has(identity(left)));
}

/** Missing, null, or an empty text, array or object. 0 and false are not empty. */
function isEmpty(left: Json | undefined): boolean {
  if (left === undefined || left === null || left === '') return true;
  if (Array.isArray(left)) return left.length === 0;
  return isObject(left) && Object.keys(left).length === 0;
}

const NEVER: Test = () => false;
