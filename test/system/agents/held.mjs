/** Sends `begun` and then nothing until it is aborted; echoes `params.content` at once. */
export default async function* held({ params }, { signal }) {
  if (params.content !== undefined) return { echoed: params.content };
  yield 'begun';
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  return {};
}
