import type { Static } from '../../static.ts';
import { OutputPathText } from '../value.ts';
import type { OperationDescription } from './description.ts';

export const LoadDataConfig = {
  type: 'object',
  required: ['key', 'outputPath'],
  properties: {
    key: { type: 'string', minLength: 1, maxLength: 256 },
    outputPath: OutputPathText,
  },
  additionalProperties: false,
} as const;
export type LoadDataConfig = Static<typeof LoadDataConfig>;

export const LoadData: OperationDescription = {
  summary: 'Reads the value that StoreData stored under a key, in this execution or an earlier one of the same agent.',
  category: 'storage',
  schema: LoadDataConfig,
  members: [
    { at: '/key', is: 'stored-key' },
    { at: '/outputPath', is: 'output' },
  ],
};
