/**
 * The pattern of a schema as a regular expression. Counted classes are expanded, one class for each repetition:
 * V8 matches them faster.
 */
export function pattern(source: string, flags = ''): RegExp {
  const written = source.replaceAll(COUNTED_CLASS, (counted, characters: string, count: string) =>
    Number(count) <= MOST_WRITTEN_OUT ? characters.repeat(Number(count)) : counted,
  );
  return new RegExp(written, flags);
}

/** A character class without escapes, with a count. */
const COUNTED_CLASS = /(?<!\\)(\[[^\]\\]+\])\{(\d{1,4})\}/g;
const MOST_WRITTEN_OUT = 128;
