/** The beginning of a text: at most this many UTF-16 units, and never half of a surrogate pair. */
export function cutTo(text: string, length: number): string {
  const cut = text.slice(0, length);
  const last = cut.charCodeAt(cut.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? cut.slice(0, -1) : cut;
}
