import type { Static } from '../../static.ts';
import { Id, OutputPathText, PathText } from '../value.ts';
import { type OperationDescription, wrapped } from './description.ts';

export const LoopConfig = {
  type: 'object',
  required: ['inputPath', 'operations'],
  properties: {
    inputPath: PathText,
    operations: { type: 'array', items: Id, minItems: 1, maxItems: 100 },
    // Where the current item is also readable, besides /loop/item and /workflow/item.
    itemPath: OutputPathText,
    // Items processed concurrently. Default: 1. With more, an item does not see what the others write.
    parallel: { type: 'integer', minimum: 1, maximum: 16 },
    outputPath: OutputPathText,
  },
  additionalProperties: false,
} as const;
export type LoopConfig = Static<typeof LoopConfig>;

export const Loop: OperationDescription = {
  summary: 'Runs operations once for each item of an array.',
  category: 'control',
  schema: LoopConfig,
  members: [
    { at: '/inputPath', is: 'input', needs: ['array'] },
    { at: '/operations/*', is: 'target', runs: 'each' },
    { at: '/itemPath', is: 'item' },
    { at: '/outputPath', is: 'output', gives: ['array'] },
  ],
  aliases: [wrapped('/operations')],
};
