// Tools in a file of your own. Name it in dragoman.yaml: `tools: [./tools.mjs]`.
import { defineTool } from '@dragoman/core';

export const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  input: {
    type: 'object',
    required: ['a', 'b'],
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    additionalProperties: false,
  },
  idempotent: true,
  tags: ['arithmetic'],
  run: ({ a, b }) => ({ sum: a + b }),
});

export const countdown = defineTool({
  name: 'countdown',
  description: 'Counts down to zero, and tells how far it is.',
  input: { type: 'object', properties: { from: { type: 'integer', minimum: 1, maximum: 100 } } },
  tags: ['slow'],
  async run({ from = 3 }, call) {
    for (let left = from; left > 0; left--) {
      call.signal.throwIfAborted();
      call.progress(((from - left) / from) * 100, `${left}…`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return { lift: 'off' };
  },
});

export const divide = defineTool({
  name: 'divide',
  description: 'Divides a by b.',
  input: {
    type: 'object',
    required: ['a', 'b'],
    properties: { a: { type: 'number' }, b: { type: 'number' } },
  },
  tags: ['arithmetic'],
  // It ran and has no quotient to give: that is an answer, not a fault of the tool.
  run: ({ a, b }, call) => (b === 0 ? call.failed('b is zero', { code: 'DIVISION_BY_ZERO' }) : { quotient: a / b }),
});
