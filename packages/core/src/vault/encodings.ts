/** One character as it can be spelled on the wire; each spelling in both cases where case does not count. */
export type Spelling = { readonly lower: Uint8Array; readonly upper: Uint8Array };

/** A text as a row of characters, each in any of its spellings. */
export type Pattern = readonly (readonly Spelling[])[];

/**
 * Every form in which a service may give a secret back: as it is, in hex, and in base64 or base64url wherever in the coded
 * text it begins; each of them percent-encoded, escaped for JSON or for HTML, in part or in whole. For JSON also twice, as
 * whoever tells the JSON he got as a text in his own does.
 */
export function patternsOf(secret: string): Pattern[] {
  const bytes = Buffer.from(secret);
  const texts = [secret, ...[0, 1, 2].map((offset) => base64Core(bytes, offset))].filter((text) => text.length > 0);
  const hex = [...bytes.toString('hex')].map((digit) => [spelling(digit, digit.toUpperCase())]);
  return [...texts.map((text, index) => [...text].map((character) => spellings(character, index > 0))), hex];
}

/** The characters of a base64 text that the secret alone decides, when it begins at this offset of three bytes. */
function base64Core(bytes: Buffer, offset: number): string {
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
  return text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
}

function spellings(character: string, isBase64: boolean): Spelling[] {
  const forms = [character, ...(isBase64 ? (URL_SAFE.get(character) ?? []) : [])];
  return forms.flatMap((form) => [
    spelling(form),
    ...percentEncoded(form),
    ...escaped(form),
    ...(SHORT_ESCAPES.get(form) ?? []).flatMap((text) => [spelling(text), spelling(inJson(text))]),
    ...htmlEscaped(form),
    ...latin1(form),
  ]);
}

function percentEncoded(character: string): Spelling[] {
  const text = [...Buffer.from(character)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  return [spelling(text, text.toUpperCase()), ...(character === ' ' ? [spelling('+')] : [])];
}

/** `\u0041`, by code unit. */
function escaped(character: string): Spelling[] {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  const hex = units.map((unit) => unit.toString(16).padStart(4, '0'));
  const lower = hex.map((digits) => `\\u${digits}`).join('');
  const upper = hex.map((digits) => `\\u${digits.toUpperCase()}`).join('');
  return [spelling(lower, upper), spelling(inJson(lower), inJson(upper))];
}

/** An escape, escaped. */
function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function htmlEscaped(character: string): Spelling[] {
  const name = HTML_NAMES.get(character);
  if (name === undefined) return [];
  const code = character.charCodeAt(0);
  const hex = `&#x${code.toString(16)};`;
  return [spelling(`&${name};`), spelling(`&#${code};`), spelling(`&#0${code};`), spelling(hex, hex.toUpperCase())];
}

/** One byte, as header fields of old may have it. */
function latin1(character: string): Spelling[] {
  const code = character.charCodeAt(0);
  if (character.length !== 1 || code < 0x80 || code > 0xff) return [];
  const bytes = Uint8Array.of(code);
  return [{ lower: bytes, upper: bytes }];
}

function spelling(lower: string, upper = lower): Spelling {
  return { lower: Buffer.from(lower), upper: Buffer.from(upper) };
}

const URL_SAFE: ReadonlyMap<string, readonly string[]> = new Map([
  ['+', ['-']],
  ['/', ['_']],
]);

const SHORT_ESCAPES: ReadonlyMap<string, readonly string[]> = new Map([
  ['"', ['\\"']],
  ["'", ["\\'"]],
  ['\\', ['\\\\']],
  ['/', ['\\/']],
  ['\b', ['\\b']],
  ['\f', ['\\f']],
  ['\n', ['\\n']],
  ['\r', ['\\r']],
  ['\t', ['\\t']],
]);

const HTML_NAMES: ReadonlyMap<string, string> = new Map([
  ['&', 'amp'],
  ['<', 'lt'],
  ['>', 'gt'],
  ['"', 'quot'],
  ["'", 'apos'],
]);
