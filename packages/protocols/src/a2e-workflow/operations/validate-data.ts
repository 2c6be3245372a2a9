import type { Static } from '../../static.ts';
import { OutputPathText, PathText } from '../value.ts';
import { type OperationDescription, requires } from './description.ts';

export const VALIDATION_TYPES = ['email', 'url', 'number', 'integer', 'phone', 'date', 'custom'] as const;

export const ValidateDataConfig = {
  type: 'object',
  required: ['inputPath', 'validationType', 'outputPath'],
  properties: {
    inputPath: PathText,
    validationType: { enum: VALIDATION_TYPES },
    pattern: { type: 'string', minLength: 1, maxLength: 1000 },
    outputPath: OutputPathText,
  },
  additionalProperties: false,
} as const;
export type ValidateDataConfig = Static<typeof ValidateDataConfig>;

export const ValidateData: OperationDescription = {
  summary: 'Validates a value and stores {valid, value, error?}; an invalid value is not an error.',
  category: 'data',
  schema: ValidateDataConfig,
  members: [
    { at: '/inputPath', is: 'input' },
    { at: '/outputPath', is: 'output', gives: ['object'] },
  ],
  inspect: (config) =>
    config['validationType'] === 'custom' ? requires(config, 'pattern', 'for the validationType custom') : [],
};
