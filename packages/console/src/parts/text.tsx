import { UNSEEN_CHARACTERS } from '@dragoman/protocols';

/** Untrusted text. Invisible characters, and those that change the text direction, are shown as codes. */
export function Text({ value }: { readonly value: string }) {
  const parts = split(value);
  if (parts.length === 1 && !parts[0]?.isUnseen) return <>{value}</>;
  return (
    <>
      {parts.map(({ text, isUnseen }, at) =>
        isUnseen ? (
          <span key={at} class="unseen" title="An invisible character, shown as its code">
            {code(text)}
          </span>
        ) : (
          text
        ),
      )}
    </>
  );
}

/** Untrusted text as a string, for places that take no elements. */
export function visibleText(value: string): string {
  return split(value)
    .map(({ text, isUnseen }) => (isUnseen ? code(text) : text))
    .join('');
}

function split(given: string): { text: string; isUnseen: boolean }[] {
  const value = given.replaceAll('\r\n', '\n');
  const parts: { text: string; isUnseen: boolean }[] = [];
  let at = 0;
  for (const found of value.matchAll(UNSEEN_CHARACTERS)) {
    if (found.index > at) parts.push({ text: value.slice(at, found.index), isUnseen: false });
    parts.push({ text: found[0], isUnseen: true });
    at = found.index + found[0].length;
  }
  if (at < value.length || parts.length === 0) parts.push({ text: value.slice(at), isUnseen: false });
  return parts;
}

function code(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}
