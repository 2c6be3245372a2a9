import type { JsonObject } from '../../json.ts';
import type { Static } from '../../static.ts';
import { OutputPathText, PathText } from '../value.ts';
import type { OperationDescription } from './description.ts';

/** The spec's four strategies, and the catalogue's `merge`, which is concat for arrays and deepMerge for objects. */
export const STRATEGIES = ['concat', 'union', 'intersect', 'deepMerge', 'merge'] as const;

export const MergeDataConfig = {
  type: 'object',
  required: ['sources', 'strategy', 'outputPath'],
  properties: {
    sources: { type: 'array', items: PathText, minItems: 2, maxItems: 100 },
    strategy: { enum: STRATEGIES },
    outputPath: OutputPathText,
  },
  additionalProperties: false,
} as const;
export type MergeDataConfig = Static<typeof MergeDataConfig>;

export const MergeData: OperationDescription = {
  summary: 'Joins several arrays or objects into one.',
  category: 'data',
  schema: MergeDataConfig,
  members: [
    { at: '/sources/*', is: 'input', needs: (config) => (concats(config) ? ['array'] : ['array', 'object']) },
    {
      at: '/outputPath',
      is: 'output',
      gives: (config) => (concats(config) ? ['array'] : ['array', 'object']),
      empties: ({ strategy }) => strategy === 'intersect',
    },
  ],
};

function concats(config: JsonObject): boolean {
  return config['strategy'] === 'concat';
}
