import type { Static } from '../../static.ts';
import { OutputPathText, PathText } from '../value.ts';
import { DATE_SHAPES, dateOutput, dateOutputIssues, dateShape, TimeZone } from './date-output.ts';
import type { OperationDescription } from './description.ts';

export const ConvertTimezoneConfig = {
  type: 'object',
  required: ['inputPath', 'toTimezone', 'outputPath'],
  properties: {
    inputPath: PathText,
    fromTimezone: TimeZone,
    toTimezone: TimeZone,
    ...dateOutput,
    outputPath: OutputPathText,
  },
  additionalProperties: false,
} as const;
export type ConvertTimezoneConfig = Static<typeof ConvertTimezoneConfig>;

export const ConvertTimezone: OperationDescription = {
  summary: 'Converts a time to another time zone.',
  category: 'time',
  schema: ConvertTimezoneConfig,
  members: [
    { at: '/inputPath', is: 'input', needs: DATE_SHAPES },
    { at: '/outputPath', is: 'output', gives: dateShape },
  ],
  inspect: dateOutputIssues,
};
