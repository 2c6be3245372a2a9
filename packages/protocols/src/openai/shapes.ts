import { Opaque, OpaqueObject } from '../schema.ts';
import type { Static } from '../static.ts';

// OpenAI's chat completions and responses. Members that a shape does not name are ignored: clients send many more.

const text = { type: 'string' } as const;
const flag = { type: ['boolean', 'null'] } as const;
const name = { type: 'string', minLength: 1, maxLength: 512 } as const;
const TextOrParts = { anyOf: [text, { type: 'array', items: OpaqueObject }, { type: 'null' }] } as const;
const metadata = { type: ['object', 'null'], additionalProperties: true } as const;

export const ChatRequestMessage = {
  type: 'object',
  required: ['role'],
  properties: {
    role: { enum: ['system', 'developer', 'user', 'assistant', 'tool'] },
    content: TextOrParts,
    name: text,
    tool_calls: { type: ['array', 'null'], items: OpaqueObject },
    tool_call_id: text,
  },
} as const;

/** The body of `POST /v1/chat/completions`. */
export const ChatCompletionRequest = {
  type: 'object',
  required: ['model', 'messages'],
  properties: {
    model: { ...name, description: 'The id of an agent, or workflow:NAME.' },
    messages: { type: 'array', minItems: 1, maxItems: 10_000, items: ChatRequestMessage },
    stream: flag,
    stream_options: {
      type: ['object', 'null'],
      properties: { include_usage: flag },
    },
    tools: {
      type: ['array', 'null'],
      maxItems: 512,
      items: OpaqueObject,
      description: 'Functions that the caller runs. The agent answers with `tool_calls`.',
    },
    tool_choice: Opaque,
    n: { enum: [1, null], description: 'Only one answer is supported.' },
    user: { type: ['string', 'null'], maxLength: 512 },
    metadata,
  },
} as const;
export type ChatCompletionRequest = Static<typeof ChatCompletionRequest>;

/** The body of `POST /v1/responses`. */
export const CreateResponseRequest = {
  type: 'object',
  required: ['model', 'input'],
  properties: {
    model: { ...name, description: 'The id of an agent, or workflow:NAME.' },
    input: { anyOf: [text, { type: 'array', minItems: 1, maxItems: 10_000, items: OpaqueObject }] },
    instructions: { type: ['string', 'null'] },
    previous_response_id: { type: ['string', 'null'], maxLength: 512, description: 'The answer to continue from.' },
    stream: flag,
    background: { ...flag, description: 'Returns immediately; read the answer later.' },
    tools: { type: ['array', 'null'], maxItems: 512, items: OpaqueObject },
    tool_choice: Opaque,
    user: { type: ['string', 'null'], maxLength: 512 },
    metadata,
  },
} as const;
export type CreateResponseRequest = Static<typeof CreateResponseRequest>;
