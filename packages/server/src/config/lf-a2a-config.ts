export const LfA2aShape = {
  type: 'object',
  description: 'Linux Foundation A2A.',
  properties: {
    public_cards: {
      type: 'array',
      items: { type: 'string' },
      default: [],
      description:
        'Ids of agents whose card is shown without a key, beside the default agent; "*" is all. Calling them still needs a key.',
    },
  },
  additionalProperties: false,
} as const;
