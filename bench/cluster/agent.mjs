// Answers at once with as many words as it is asked for; with `every`, frame after frame, each with the time it was made at; `hold` never ends.
export default async function* bench({ params: { frames = 0, every = 0, hold = false } }, { signal }) {
  for (let count = 0; count < frames; count++) {
    if (every > 0) await new Promise((resolve) => setTimeout(resolve, every));
    yield every > 0 ? String(performance.timeOrigin + performance.now()) : 'word ';
  }
  if (hold) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  return { content: 'hello my world' };
}
