// A file with a tool, as an operator would write it.
export const add = {
  name: 'add',
  description: 'Adds two numbers.',
  input: { type: 'object', required: ['a', 'b'], properties: { a: { type: 'number' }, b: { type: 'number' } } },
  run({ a, b }, call) {
    call.progress(50, 'half');
    return { sum: a + b };
  },
};
