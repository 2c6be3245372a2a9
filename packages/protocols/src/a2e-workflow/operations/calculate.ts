import type { Json, JsonObject } from '../../json.ts';
import type { Issue } from '../../outcome.ts';
import type { Static } from '../../static.ts';
import { NumberOrPath, OutputPathText, PathText } from '../value.ts';
import { type OperationDescription, requires, type Shape } from './description.ts';

const WITH_OPERAND = ['add', 'subtract', 'multiply', 'divide', 'power', 'modulo'] as const;
const ON_ONE = ['round', 'ceil', 'floor', 'abs'] as const;
const ON_LISTS = ['max', 'min', 'sum', 'average'] as const;
export const CALCULATIONS = [...WITH_OPERAND, ...ON_ONE, ...ON_LISTS] as const;

export const CalculateConfig = {
  type: 'object',
  required: ['inputPath', 'operation', 'outputPath'],
  properties: {
    inputPath: PathText,
    operation: { enum: CALCULATIONS },
    // `max` and `min` include the operand in their comparison, if it is present.
    operand: NumberOrPath,
    // Decimal places for round. Default: 2.
    precision: { type: 'integer', minimum: 0, maximum: 15 },
    outputPath: OutputPathText,
  },
  additionalProperties: false,
} as const;
export type CalculateConfig = Static<typeof CalculateConfig>;

export const Calculate: OperationDescription = {
  summary: 'Calculates with a number, or over an array of numbers.',
  category: 'math',
  schema: CalculateConfig,
  members: [
    { at: '/inputPath', is: 'input', needs: inputShapes },
    { at: '/operand', is: 'comparand' },
    { at: '/outputPath', is: 'output', gives: ['number'] },
  ],
  aliases: [{ at: '/operand', canonical: pathAsReference }],
  inspect: operandIssues,
};

function inputShapes({ operation }: JsonObject): readonly Shape[] {
  return ON_LISTS.some((name) => name === operation) ? ['array', 'number'] : ['number'];
}

/** The reference implementation accepts a bare path as operand. */
function pathAsReference(value: Json): Json | undefined {
  return typeof value === 'string' && value.startsWith('/') ? { path: value } : undefined;
}

function operandIssues(config: JsonObject): readonly Issue[] {
  const { operation, operand } = config;
  if (!WITH_OPERAND.some((name) => name === operation)) return [];
  if ((operation === 'divide' || operation === 'modulo') && operand === 0) {
    return [
      { pointer: '/operand', code: 'division_by_zero', message: `operand must not be 0 for ${operation}; got 0` },
    ];
  }
  return requires(config, 'operand', `for ${operation}`);
}
