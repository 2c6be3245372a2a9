import fc from 'fast-check';

/** Any character; those that break parsers are more frequent. */
export const anyCharacter: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom('a', '"', '\\', '/', '\0', '\n', '\r', '\u0085', '\u2028', '\uFEFF', 'é', '€', '\uFFFF', '😀'),
  fc
    .nat({ max: 0x10ffff })
    .filter((code) => code < 0xd800 || code > 0xdfff)
    .map((code) => String.fromCodePoint(code)),
);
