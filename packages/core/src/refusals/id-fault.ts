/**
 * What is wrong with an id a caller chose; `undefined` when nothing is. Ids are keys in the store and parts of paths, and
 * not every database keeps a NUL. (Half of a surrogate pair is refused with the JSON it stands in.)
 */
export function idFault(id: string): string | undefined {
  if (id.length > LONGEST) return `must have at most ${LONGEST} characters; got ${id.length}`;
  return id.includes('\0') ? 'must not contain a NUL' : undefined;
}

/** What a segment of a path may have. */
const LONGEST = 512;
