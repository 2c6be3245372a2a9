import type { Static } from '../../static.ts';
import { OutputPathText } from '../value.ts';
import { dateOutput, dateOutputIssues, dateShape, TimeZone } from './date-output.ts';
import type { OperationDescription } from './description.ts';

export const GetCurrentDateTimeConfig = {
  type: 'object',
  required: ['outputPath'],
  properties: { timezone: TimeZone, ...dateOutput, outputPath: OutputPathText },
  additionalProperties: false,
} as const;
export type GetCurrentDateTimeConfig = Static<typeof GetCurrentDateTimeConfig>;

export const GetCurrentDateTime: OperationDescription = {
  summary: 'Stores the current time. Default: UTC.',
  category: 'time',
  schema: GetCurrentDateTimeConfig,
  members: [{ at: '/outputPath', is: 'output', gives: dateShape }],
  inspect: dateOutputIssues,
};
