import type { Static } from '@dragoman/protocols';

/** The body of `PUT /admin/v1/workflows/{name}`. */
export const StoredWorkflowDefinition = {
  type: 'object',
  required: ['workflow'],
  properties: {
    workflow: {
      type: ['string', 'array'],
      items: { type: 'object' },
      minLength: 1,
      minItems: 1,
      description: 'JSON lines, or an array of messages. {{name}} in it is an input.',
    },
    description: { type: 'string', maxLength: 4000, description: 'What it does, for callers.' },
  },
  additionalProperties: false,
} as const;
export type StoredWorkflowDefinition = Static<typeof StoredWorkflowDefinition>;
