import { type Json, type JsonObject, show } from '@dragoman/protocols';
import { type Expression, isExpression, parseExpression } from '@dragoman/protocols/a2e-workflow';
import { calculated } from '../calculated.ts';
import { fieldReader } from '../field.ts';
import { arrayAt } from '../input.ts';
import { dataError } from '../step-error.ts';
import type { Transform } from './transform.ts';

/**
 * Turns each item into an object of its renamed fields, as in `{ "full_name": "name" }`, and of computed ones, as in `{
 * "total": "{price} * {quantity}" }`. A field that an item lacks is null, but cannot be used in a computation.
 */
export const map: Transform = {
  compile({ fields = {} }, input) {
    const members = Object.entries(fields).map(([key, value]) => memberOf(key, String(value)));
    const blank: JsonObject = Object.fromEntries(members.map(({ target }) => [target, null]));
    const names = members.reduce((total, { target }) => total + target.length + LONGEST_NUMBER, 2);
    return (step) => {
      const items = arrayAt(step, input);
      const bytes = step.bytesAt(input) * Math.max(1, members.length) + items.length * names;
      step.boundedBy(bytes);
      return items.map((item, index): Json => {
        // Every target is already a member of the copy, so setting it never reaches a prototype.
        const mapped = { ...blank };
        for (const { read, target } of members) mapped[target] = read(item, index);
        return mapped;
      });
    };
  },
};

interface Member {
  readonly target: string;
  readonly read: (item: Json, index: number) => Json;
}

function memberOf(key: string, value: string): Member {
  if (!isExpression(value)) {
    const read = fieldReader(key);
    return { target: value, read: (item) => read(item) ?? null };
  }
  const expression = parseExpression(value);
  if (typeof expression === 'string') throw new Error(`${value} was not checked: ${expression}`);
  return { target: key, read: computation(expression) };
}

function computation(expression: Expression): (item: Json, index: number) => number {
  if (expression.kind === 'number') return () => expression.value;
  if (expression.kind === 'field') {
    const { name } = expression;
    const read = fieldReader(name);
    return (item, index) => {
      const value = read(item);
      if (typeof value === 'number') return value;
      const received = value === undefined ? 'no such field' : show(value);
      throw dataError(`{${name}} of item ${index} must be a number; got ${received}`, {
        details: { index, field: name },
        suggestions: ['remove such items first with FilterData'],
      });
    };
  }
  const { operation } = expression;
  const [left, right] = [computation(expression.left), computation(expression.right)];
  return (item, index) => calculated(operation, left(item, index), right(item, index));
}

/** An upper bound of the characters of a number and its punctuation. */
const LONGEST_NUMBER = 32;
