import { OpaqueObject } from '../../schema.ts';
import type { Static } from '../../static.ts';
import { OutputPathText } from '../value.ts';
import type { OperationDescription } from './description.ts';

/**
 * The name of a tool, an agent or a stored workflow. It takes no templates, so that a plan shows which one is called.
 */
export const CalleeName = { type: 'string', pattern: '^[a-zA-Z0-9._/-]{1,256}$' } as const;

/** Milliseconds. */
export const CallTimeout = { type: 'integer', minimum: 1000, maximum: 600_000 } as const;

export const CallToolConfig = {
  type: 'object',
  required: ['tool', 'outputPath'],
  properties: { tool: CalleeName, arguments: OpaqueObject, outputPath: OutputPathText, timeout: CallTimeout },
  additionalProperties: false,
} as const;
export type CallToolConfig = Static<typeof CallToolConfig>;

export const CallTool: OperationDescription = {
  summary: 'Calls a tool of the server and stores its result.',
  category: 'call',
  schema: CallToolConfig,
  members: [
    { at: '/tool', is: 'callee', list: 'tools' },
    { at: '/arguments', is: 'json' },
    { at: '/outputPath', is: 'output' },
    { at: '/timeout', is: 'duration', bound: 'most' },
  ],
};
