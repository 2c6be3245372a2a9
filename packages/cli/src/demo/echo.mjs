import { setTimeout as pause } from 'node:timers/promises';

/** Echoes its input, word by word. */
export default async function* echo({ params }, { signal }) {
  const text = String(params.content ?? params.text ?? params.query ?? textOf(params.prompt ?? params.content_blocks));
  // With the space that follows each word, so that the pieces make up the text again.
  const words = text.match(/\s*\S+\s*/g) ?? [];
  for (const word of words) {
    yield word;
    await pause(40, undefined, { signal });
  }
  return { text, words: words.length };
}

/** An ACP client sends its text in blocks. */
function textOf(blocks) {
  if (!Array.isArray(blocks)) return '';
  return blocks.flatMap((block) => (typeof block?.text === 'string' ? [block.text] : [])).join('\n');
}
