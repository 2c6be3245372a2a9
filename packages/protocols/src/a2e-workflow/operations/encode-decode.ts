import type { Static } from '../../static.ts';
import { OutputPathText, PathText } from '../value.ts';
import type { OperationDescription } from './description.ts';

export const EncodeDecodeConfig = {
  type: 'object',
  required: ['inputPath', 'operation', 'encoding', 'outputPath'],
  properties: {
    inputPath: PathText,
    operation: { enum: ['encode', 'decode'] },
    encoding: { enum: ['base64', 'url', 'html'] },
    outputPath: OutputPathText,
  },
  additionalProperties: false,
} as const;
export type EncodeDecodeConfig = Static<typeof EncodeDecodeConfig>;

export const EncodeDecode: OperationDescription = {
  summary: 'Encodes a text for base64, a URL or HTML, or decodes it.',
  category: 'text',
  schema: EncodeDecodeConfig,
  members: [
    { at: '/inputPath', is: 'input', needs: ['string'] },
    { at: '/outputPath', is: 'output', gives: ['string'] },
  ],
};
