// Answers at once, with as many words first as the text asks for.
export default async function* bench({ params }) {
  const frames = Number(/^frames (\d+)$/.exec(params.text ?? '')?.[1] ?? 0);
  for (let count = 0; count < frames; count++) yield 'word ';
  return { content: `${'word '.repeat(frames)}hello my world` };
}
