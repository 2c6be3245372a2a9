import { appendFileSync } from 'node:fs';

/** Writes a line to a file, so that a test sees how often it was called. Not idempotent, and not declared as such. */
export const count = {
  name: 'count',
  description: 'Counts its calls.',
  input: {
    type: 'object',
    properties: { id: { type: 'string' }, file: { type: 'string' } },
    required: ['id', 'file'],
  },
  run({ id, file }, call) {
    call.progress(50, 'half');
    appendFileSync(file, `${id}\n`);
    return { counted: id };
  },
};
