/**
 * The pattern of a schema as a regular expression. "So many of this class" is written out, one class for each: an engine
 * that counts takes twice as long, on ids and signatures that every message has.
 */
export function pattern(source: string, flags = ''): RegExp {
  const written = source.replaceAll(COUNTED_CLASS, (counted, characters: string, count: string) =>
    Number(count) <= MOST_WRITTEN_OUT ? characters.repeat(Number(count)) : counted,
  );
  return new RegExp(written, flags);
}

/** A class of characters without escapes, and how many of it. */
const COUNTED_CLASS = /(?<!\\)(\[[^\]\\]+\])\{(\d{1,4})\}/g;
const MOST_WRITTEN_OUT = 128;
