export const echo = {
  name: 'echo',
  description: 'Says it back.',
  input: { type: 'object', required: ['message'], properties: { message: { type: 'string' } } },
  run: ({ message }) => ({ message }),
};
