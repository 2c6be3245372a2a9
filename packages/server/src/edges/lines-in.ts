/**
 * The messages in one WebSocket message: its NDJSON lines (A2E wire, Framing), or itself where it is a single JSON text on several
 * lines, which no line of NDJSON is.
 */
export function* linesIn(text: string): Generator<string> {
  const [first = ''] = nonBlank(text);
  const isLines = first.startsWith('{') && first.endsWith('}');
  if (isLines) yield* nonBlank(text);
  else yield text;
}

/** One at a time: a message may be nothing but millions of line breaks. */
function* nonBlank(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start);
    const line = text.slice(start, end === -1 ? text.length : end).trim();
    if (line !== '') yield line;
    start = end === -1 ? text.length : end + 1;
  }
}
