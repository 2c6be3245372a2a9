import type { JsonObject } from '../../json.ts';
import type { Issue } from '../../outcome.ts';
import { Opaque, OpaqueObject } from '../../schema.ts';
import type { Static } from '../../static.ts';
import { OutputPathText } from '../value.ts';
import { CalleeName, CallTimeout } from './call-tool.ts';
import type { OperationDescription } from './description.ts';

export const CallAgentConfig = {
  type: 'object',
  required: ['agent', 'outputPath'],
  properties: {
    agent: CalleeName,
    // The text for the agent, sent as `chat.send`.
    message: Opaque,
    // A method of the agent, instead of `message`.
    method: { type: 'string', minLength: 1, maxLength: 256 },
    params: OpaqueObject,
    outputPath: OutputPathText,
    timeout: CallTimeout,
  },
  additionalProperties: false,
} as const;
export type CallAgentConfig = Static<typeof CallAgentConfig>;

export const CallAgent: OperationDescription = {
  summary: 'Asks an agent and stores its answer.',
  category: 'call',
  schema: CallAgentConfig,
  members: [
    { at: '/agent', is: 'callee', list: 'agents' },
    { at: '/message', is: 'json' },
    { at: '/params', is: 'json' },
    { at: '/outputPath', is: 'output' },
    { at: '/timeout', is: 'duration', bound: 'most' },
  ],
  inspect: (config) => (has(config, 'message') === has(config, 'method') ? [MESSAGE_OR_METHOD] : []),
};

function has(config: JsonObject, name: string): boolean {
  return Object.hasOwn(config, name);
}

const MESSAGE_OR_METHOD: Issue = {
  pointer: '/message',
  code: 'message_or_method',
  message: 'CallAgent needs either message or method',
  suggestion: 'use message for text, or method with params',
};
