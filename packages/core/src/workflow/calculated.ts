import { finite } from './finite.ts';
import { dataError } from './step-error.ts';

type Binary = (left: number, right: number) => number;

/** The calculations with two numbers. */
export const WITH_OPERAND = {
  add: (left, right) => left + right,
  subtract: (left, right) => left - right,
  multiply: (left, right) => left * right,
  divide: (left, right) => left / right,
  power: (left, right) => left ** right,
  modulo: (left, right) => left % right,
} as const satisfies Readonly<Record<string, Binary>>;

/** Calculates with two numbers. A result that is not a finite number is a DataError. */
export function calculated(operation: keyof typeof WITH_OPERAND, left: number, right: number): number {
  if (right === 0 && (operation === 'divide' || operation === 'modulo')) {
    throw dataError(`${operation} by zero`, { suggestions: ['check with a Conditional whether the operand is 0'] });
  }
  return finite(WITH_OPERAND[operation](left, right), operation);
}
