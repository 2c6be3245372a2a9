import type { JsonObject } from '../../json.ts';
import type { Issue } from '../../outcome.ts';
import type { Static } from '../../static.ts';
import { OutputPathText, PathText } from '../value.ts';
import { DATE_SHAPES, dateOutput, dateOutputIssues, dateShape, TimeZone } from './date-output.ts';
import type { OperationDescription } from './description.ts';

const whole = { type: 'integer', minimum: -1_000_000, maximum: 1_000_000 } as const;
const amount = { type: 'number', minimum: -1_000_000_000, maximum: 1_000_000_000 } as const;

export const DateCalculationConfig = {
  type: 'object',
  required: ['inputPath', 'operation', 'outputPath'],
  properties: {
    inputPath: PathText,
    operation: { enum: ['add', 'subtract'] },
    // Years and months are calendar units, so they are whole numbers.
    years: whole,
    months: whole,
    days: amount,
    hours: amount,
    minutes: amount,
    seconds: amount,
    timezone: TimeZone,
    ...dateOutput,
    outputPath: OutputPathText,
  },
  additionalProperties: false,
} as const;
export type DateCalculationConfig = Static<typeof DateCalculationConfig>;

export const DateCalculation: OperationDescription = {
  summary: 'Adds to a time or subtracts from it.',
  category: 'time',
  schema: DateCalculationConfig,
  members: [
    { at: '/inputPath', is: 'input', needs: DATE_SHAPES },
    { at: '/outputPath', is: 'output', gives: dateShape },
  ],
  inspect: (config) => [...amountIssues(config), ...dateOutputIssues(config)],
};

function amountIssues(config: JsonObject): readonly Issue[] {
  if (UNITS.some((unit) => Object.hasOwn(config, unit))) return [];
  const message = `DateCalculation needs at least one of ${UNITS.join(', ')}; none is given`;
  return [{ pointer: '/days', code: 'required', message }];
}

const UNITS = ['years', 'months', 'days', 'hours', 'minutes', 'seconds'] as const;
