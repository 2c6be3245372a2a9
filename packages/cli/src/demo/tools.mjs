import { defineTool } from '@dragoman/core';

/** A tool of the demo, for agents to call over the wire. */
export const wordCount = defineTool({
  name: 'word_count',
  description: 'Counts the words and characters of a text.',
  input: {
    type: 'object',
    required: ['text'],
    properties: { text: { type: 'string', maxLength: 10_000 } },
    additionalProperties: false,
  },
  idempotent: true,
  tags: ['text'],
  run: ({ text }) => ({ words: text.split(/\s+/).filter(Boolean).length, characters: text.length }),
});
