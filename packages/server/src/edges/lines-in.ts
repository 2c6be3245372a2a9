/**
 * The messages in one WebSocket message: its NDJSON lines (A2E wire, Framing), or the whole text if it is one JSON
 * value over several lines.
 */
export function* linesIn(text: string): Generator<string> {
  const [first = ''] = nonBlank(text);
  const isLines = first.startsWith('{') && first.endsWith('}');
  if (isLines) yield* nonBlank(text);
  else yield text;
}

/** A generator, because a message may consist of millions of line breaks. */
function* nonBlank(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start);
    const line = text.slice(start, end === -1 ? text.length : end).trim();
    if (line !== '') yield line;
    start = end === -1 ? text.length : end + 1;
  }
}
