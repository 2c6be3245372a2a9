import type { Static } from '../../static.ts';
import { OutputPathText, PathText } from '../value.ts';
import type { OperationDescription } from './description.ts';

export const ExtractTextConfig = {
  type: 'object',
  required: ['inputPath', 'pattern', 'outputPath'],
  properties: {
    inputPath: PathText,
    // Runs on a linear engine, so there are no back references and no lookaround.
    pattern: { type: 'string', minLength: 1, maxLength: 1000 },
    extractAll: { type: 'boolean' },
    outputPath: OutputPathText,
  },
  additionalProperties: false,
} as const;
export type ExtractTextConfig = Static<typeof ExtractTextConfig>;

export const ExtractText: OperationDescription = {
  summary: 'Finds the first match of a pattern, or all matches.',
  category: 'text',
  schema: ExtractTextConfig,
  members: [
    { at: '/inputPath', is: 'input', needs: ['string'] },
    {
      at: '/outputPath',
      is: 'output',
      gives: ({ extractAll }) => (extractAll === true ? ['array'] : ['string', 'null']),
      empties: ({ extractAll }) => extractAll === true,
    },
  ],
};
