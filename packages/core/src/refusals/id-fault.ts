/**
 * The fault of an id that a caller chose; `undefined` when it is valid. Ids are keys in the store and parts of paths,
 * and not every database can store a NUL. (Half of a surrogate pair is refused when the JSON is parsed.)
 */
export function idFault(id: string): string | undefined {
  if (id.length > LONGEST) return `must have at most ${LONGEST} characters; got ${id.length}`;
  return id.includes('\0') ? 'must not contain a NUL' : undefined;
}

/** The maximum length of a path segment. */
const LONGEST = 512;
