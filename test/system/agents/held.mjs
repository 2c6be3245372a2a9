/** Says `begun` and then nothing until it is told to stop; what asks for `params.content` gets it back at once. */
export default async function* held({ params }, { signal }) {
  if (params.content !== undefined) return { echoed: params.content };
  yield 'begun';
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  return {};
}
