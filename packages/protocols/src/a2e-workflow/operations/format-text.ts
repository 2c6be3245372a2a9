import type { JsonObject } from '../../json.ts';
import type { Issue } from '../../outcome.ts';
import type { Static } from '../../static.ts';
import { OutputPathText, PathText } from '../value.ts';
import { type OperationDescription, renamed, requires } from './description.ts';

export const TEXT_FORMATS = ['template', 'upper', 'lower', 'title', 'capitalize', 'trim', 'replace'] as const;

export const FormatTextConfig = {
  type: 'object',
  required: ['inputPath', 'format', 'outputPath'],
  properties: {
    inputPath: PathText,
    format: { enum: TEXT_FORMATS },
    // {field} is a field of the input, {value} the input itself, {/path} any other place.
    template: { type: 'string', maxLength: 65_536 },
    replacements: { type: 'object', additionalProperties: { type: 'string' }, maxProperties: 1000 },
    outputPath: OutputPathText,
  },
  additionalProperties: false,
} as const;
export type FormatTextConfig = Static<typeof FormatTextConfig>;

export const FormatText: OperationDescription = {
  summary: 'Fills a template, or changes the case or the words of a text.',
  category: 'text',
  schema: FormatTextConfig,
  members: [
    { at: '/inputPath', is: 'input', needs: ({ format }) => (format === 'template' ? undefined : ['string']) },
    { at: '/template', is: 'template', fields: true },
    { at: '/outputPath', is: 'output', gives: ['string'] },
  ],
  aliases: [renamed('/format', { uppercase: 'upper', lowercase: 'lower', titlecase: 'title' })],
  inspect: needed,
};

function needed(config: JsonObject): readonly Issue[] {
  if (config['format'] === 'template') return requires(config, 'template', 'for the format template');
  if (config['format'] === 'replace') return requires(config, 'replacements', 'for the format replace');
  return [];
}
