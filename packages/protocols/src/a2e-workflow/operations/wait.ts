import type { Static } from '../../static.ts';
import type { OperationDescription } from './description.ts';

export const WaitConfig = {
  type: 'object',
  required: ['duration'],
  properties: { duration: { type: 'integer', minimum: 0, maximum: 600_000 } },
  additionalProperties: false,
} as const;
export type WaitConfig = Static<typeof WaitConfig>;

export const Wait: OperationDescription = {
  summary: 'Waits for a number of milliseconds.',
  category: 'control',
  schema: WaitConfig,
  members: [{ at: '/duration', is: 'duration', bound: 'exact' }],
};
