export const remove = {
  name: 'remove',
  input: { type: 'object', required: ['path'], properties: { path: { type: 'string' } } },
  run: ({ path }) => ({ removed: path }),
};
