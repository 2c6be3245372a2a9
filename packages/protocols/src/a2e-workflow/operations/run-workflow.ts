import { OpaqueObject } from '../../schema.ts';
import type { Static } from '../../static.ts';
import { OutputPathText } from '../value.ts';
import { CalleeName, CallTimeout } from './call-tool.ts';
import type { OperationDescription } from './description.ts';

export const RunWorkflowConfig = {
  type: 'object',
  required: ['name', 'outputPath'],
  properties: { name: CalleeName, inputs: OpaqueObject, outputPath: OutputPathText, timeout: CallTimeout },
  additionalProperties: false,
} as const;
export type RunWorkflowConfig = Static<typeof RunWorkflowConfig>;

export const RunWorkflow: OperationDescription = {
  summary: 'Runs a stored workflow and stores its results, by operation id.',
  category: 'call',
  schema: RunWorkflowConfig,
  members: [
    { at: '/name', is: 'callee', list: 'workflows' },
    { at: '/inputs', is: 'json' },
    { at: '/outputPath', is: 'output', gives: ['object'] },
    { at: '/timeout', is: 'duration', bound: 'most' },
  ],
};
