/** The beginning of a text, never more than so many UTF-16 units and never half of a character. */
export function cutTo(text: string, length: number): string {
  return text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '');
}
