/** The same as the agent `worker`, as a tool. */
export const work = {
  name: 'work',
  description: 'Works, fails or waits.',
  input: { type: 'object', properties: { mode: { type: 'string' } }, required: ['mode'] },
  async run({ mode }, call) {
    if (mode === 'fail') throw new Error('it failed');
    call.progress(50, 'half');
    if (mode === 'hold') await new Promise((resolve) => call.signal.addEventListener('abort', resolve, { once: true }));
    return { text: 'Hello world' };
  },
};
