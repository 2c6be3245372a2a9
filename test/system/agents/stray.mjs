/** Answers normally, and leaves behind a promise that rejects unhandled. */
export default async function* stray(_, { signal }) {
  Promise.reject(new Error('a promise left alone'));
  setTimeout(() => {
    throw new Error('a timer that throws');
  });
  signal.addEventListener('abort', () => {
    throw new Error('a listener that throws');
  });
  yield 'begun';
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
