// Tools for tests. Plain objects: a file need not import anything to have tools.
const input = { type: 'object', properties: { content: { type: 'string' } }, required: ['content'] };

export const say = {
  name: 'say',
  description: 'Says it back.',
  input,
  run: ({ content }) => ({ echoed: content }),
};

export const secret = { name: 'secret', description: 'For others.', input, run: () => ({}) };

export const broken = {
  name: 'broken',
  description: 'Throws.',
  input,
  run: () => {
    throw new Error('it broke');
  },
};
