import { type Json, show } from '@dragoman/protocols';
import { type CalculateConfig, isPathReference, OPERATIONS, type Path } from '@dragoman/protocols/a2e-workflow';
import { calculated, WITH_OPERAND } from '../calculated.ts';
import { finite } from '../finite.ts';
import { wrongShape } from '../input.ts';
import type { Operation, StepContext } from '../operation.ts';

/** Calculates with a number, or over an array of numbers. A result that is not a finite number is a DataError. */
export const calculate: Operation<CalculateConfig> = {
  description: OPERATIONS.Calculate,
  compile({ inputPath, operation, operand, precision = 2 }, compiling) {
    const input = compiling.path(inputPath);
    const right = isPathReference(operand as Json | undefined)
      ? compiling.path((operand as { path: string }).path)
      : operand;
    const overList = Object.hasOwn(OVER_LISTS, operation) ? OVER_LISTS[operation] : undefined;
    const onOne = Object.hasOwn(ON_ONE, operation) ? ON_ONE[operation] : undefined;
    const withOperand = Object.hasOwn(WITH_OPERAND, operation) ? (operation as keyof typeof WITH_OPERAND) : undefined;
    const operandAt = (step: StepContext) => (typeof right === 'number' ? right : numberAt(step, right as Path));
    if (overList !== undefined) {
      // For `max` and `min` the operand is one more number to compare.
      const hasOperand = right !== undefined && (operation === 'max' || operation === 'min');
      return (step) => {
        const numbers = numbersAt(step, input);
        return finite(overList(hasOperand ? [...numbers, operandAt(step)] : numbers), operation);
      };
    }
    if (onOne !== undefined) return (step) => finite(onOne(numberAt(step, input), precision), operation);
    if (withOperand === undefined) {
      compiling.problem('/operation', `operation ${show(operation)} is unknown`);
      return () => null;
    }
    return (step) => calculated(withOperand, numberAt(step, input), operandAt(step));
  },
};

type Binary = (left: number, right: number) => number;

const ON_ONE: Readonly<Record<string, Binary>> = {
  round: rounded,
  ceil: (value) => Math.ceil(value),
  floor: (value) => Math.floor(value),
  abs: (value) => Math.abs(value),
};

const OVER_LISTS: Readonly<Record<string, (numbers: readonly number[]) => number>> = {
  max: (numbers) => numbers.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY),
  min: (numbers) => numbers.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY),
  sum: (numbers) => numbers.reduce((total, value) => total + value, 0),
  average: (numbers) => numbers.reduce((total, value) => total + value, 0) / numbers.length,
};

/** Rounds half away from zero, by the decimal digits: 1.005 as a double is slightly less than 1.005. */
function rounded(value: number, precision: number): number {
  const shifted = shiftedBy(Math.abs(value), precision);
  if (!Number.isFinite(shifted)) return value;
  return Math.sign(value) * shiftedBy(Math.round(shifted), -precision);
}

/** Moves the decimal point. Very large and very small numbers are written with an exponent already. */
function shiftedBy(value: number, digits: number): number {
  const [figures = '', exponent = '0'] = String(value).split('e');
  return Number(`${figures}e${Number(exponent) + digits}`);
}

function numberAt(step: StepContext, path: Path): number {
  const value = step.read(path);
  if (!isNumber(value)) throw wrongShape(path, 'a number', value, isNumber);
  return value;
}

/** The numbers of an array, without its other values. A single number counts as an array of one. */
function numbersAt(step: StepContext, path: Path): readonly number[] {
  const value = step.read(path);
  if (isNumber(value)) return [value];
  if (!Array.isArray(value)) throw wrongShape(path, 'an array of numbers', value, Array.isArray);
  return value.filter(isNumber);
}

function isNumber(value: Json): value is number {
  return typeof value === 'number';
}
