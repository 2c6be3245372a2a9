/** Echoes `params.content`, a word a frame. */
export default async function* echo(envelope) {
  const content = String(envelope.params.content ?? envelope.params.query ?? '');
  for (const word of content.split(' ')) if (word !== '') yield word;
  return { echoed: content };
}
