import type { Json } from '@dragoman/protocols';
import { isScalar } from '../json/equality.ts';
import type { Test } from './condition.ts';
import { fieldReader, isPlainName, type Members } from './field.ts';

/** Whether an item meets a condition. Only items that have members are tested. */
export type ItemTest = (item: Members) => boolean;

/**
 * Compiles the test of one field. The common conditions, a plain name compared with a scalar, read and compare in one
 * function, without a call per item.
 */
export function itemTest(field: string, operator: string, right: Json, test: Test): ItemTest {
  if (isPlainName(field)) {
    const direct = DIRECT.get(operator)?.(field, right);
    if (direct !== undefined) return direct;
    return (item) => test(item[field]);
  }
  const read = fieldReader(field);
  return (item) => test(read(item as Json));
}

/** The items that meet every test. Without tests, none. */
export function sieved(items: readonly Json[], tests: readonly ItemTest[]): Json[] {
  const [first, second, ...rest] = tests;
  const kept: Json[] = [];
  if (first === undefined) return kept;
  for (let at = 0; at < items.length; at++) {
    const item = items[at] as Json;
    // An item without members meets no condition.
    if (typeof item !== 'object' || item === null || !first(item as Members)) continue;
    if (second !== undefined && !second(item as Members)) continue;
    if (rest.length === 0 || rest.every((test) => test(item as Members))) kept.push(item);
  }
  return kept;
}

type Direct = (name: string, right: Json) => ItemTest | undefined;

function ofNumbers(make: (name: string, right: number) => ItemTest): Direct {
  return (name, right) => (typeof right === 'number' ? make(name, right) : undefined);
}

const DIRECT: ReadonlyMap<string, Direct> = new Map<string, Direct>([
  ['==', (name, right) => (isScalar(right) ? (item) => item[name] === right : undefined)],
  ['!=', (name, right) => (isScalar(right) ? (item) => item[name] !== right : undefined)],
  ['>', ofNumbers((name, right) => (item) => isAbove(item[name], right))],
  ['<', ofNumbers((name, right) => (item) => isBelow(item[name], right))],
  ['>=', ofNumbers((name, right) => (item) => isAtLeast(item[name], right))],
  ['<=', ofNumbers((name, right) => (item) => isAtMost(item[name], right))],
]);

function isAbove(left: Json | undefined, right: number): boolean {
  return typeof left === 'number' && left > right;
}

function isBelow(left: Json | undefined, right: number): boolean {
  return typeof left === 'number' && left < right;
}

function isAtLeast(left: Json | undefined, right: number): boolean {
  return typeof left === 'number' && left >= right;
}

function isAtMost(left: Json | undefined, right: number): boolean {
  return typeof left === 'number' && left <= right;
}
