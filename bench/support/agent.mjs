// Answers at once, after the requested number of words; `hold` keeps the answer open.
export default async function* bench(envelope, call) {
  const { frames = 0, hold = false } = envelope.params;
  for (let count = 0; count < frames; count++) yield 'word ';
  if (hold) await new Promise((resolve) => call.signal.addEventListener('abort', resolve, { once: true }));
  return { content: 'hello my world' };
}
