/** A long text in UTF-8, decoded a slice in each turn of the loop: others have theirs in between. */
export async function textInTurns(bytes: Uint8Array): Promise<string> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let text = '';
  for (let at = 0; at < buffer.length; ) {
    if (at > 0) await new Promise((resolve) => setImmediate(resolve));
    const end = wholeCharacters(buffer, at + SLICE);
    text += buffer.toString('utf8', at, end);
    at = end;
  }
  return text;
}

/** A place to cut: not inside of a character. */
function wholeCharacters(bytes: Buffer, at: number): number {
  if (at >= bytes.length) return bytes.length;
  let end = at;
  while (((bytes[end] as number) & 0xc0) === 0x80) end--;
  return end;
}

/** Half a millisecond's work. */
export const SLICE = 524_288;
