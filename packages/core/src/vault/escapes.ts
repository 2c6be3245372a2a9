export interface Escape {
  /** The escaped character in UTF-8; of a percent-encoding, the byte. */
  readonly means: Uint8Array;
  /** The length of the escape in bytes. */
  readonly length: number;
}

export interface Escapes {
  readonly found: readonly Escape[];
  /** Whether the bytes end within an escape, so that more bytes may change the result. */
  readonly open: boolean;
}

/**
 * All escapes that can begin at a place: percent-encoding, escapes of JSON (also escaped twice, as in JSON within JSON)
 * and of HTML, and characters in one byte, as in old header fields. The place can also stand for itself. Looks at most
 * a few dozen bytes ahead.
 */
export function escapesAt(bytes: Uint8Array, at: number): Escapes {
  const byte = bytes[at] ?? 0;
  if (byte === PERCENT) return percentAt(bytes, at);
  if (byte === BACKSLASH) return backslashAt(bytes, at);
  if (byte === AMPERSAND) return entityAt(bytes, at);
  return byte >= 0x80 ? one(byte, 1) : NONE;
}

/** Whether an escape can begin with a byte. */
export function beginsEscape(byte: number): boolean {
  return byte === PERCENT || byte === BACKSLASH || byte === AMPERSAND || byte >= 0x80;
}

/** `%41` is a byte, and not always a whole character. */
function percentAt(bytes: Uint8Array, at: number): Escapes {
  const { value, digits, isCut } = digitsAt(bytes, at + 1, { base: 16, most: 2 });
  if (digits < 2) return isCut ? OPEN : NONE;
  return { found: [{ means: Uint8Array.of(value), length: 3 }], open: false };
}

function backslashAt(bytes: Uint8Array, at: number): Escapes {
  const second = bytes[at + 1];
  if (second === undefined) return OPEN;
  if (second === LETTER_U) return unitAt(bytes, at, 1);
  const short = SHORT.get(second);
  if (second !== BACKSLASH) return short === undefined ? NONE : one(short, 2);
  const third = bytes[at + 2];
  const fourth = bytes[at + 3];
  const once: Escape = { means: utf8(BACKSLASH), length: 2 };
  if (third === undefined) return { found: [once], open: true };
  if (third === LETTER_U) {
    const { found, open } = unitAt(bytes, at, 2);
    return { found: [once, ...found], open };
  }
  // Escaped twice: \n is \\n, but \" is \\\" and \\ is \\\\.
  if (third !== BACKSLASH) {
    const twice = third === QUOTE ? undefined : SHORT.get(third);
    return twice === undefined ? one(BACKSLASH, 2) : { found: [once, { means: utf8(twice), length: 3 }], open: false };
  }
  if (fourth === undefined) return { found: [once], open: true };
  if (fourth !== QUOTE && fourth !== BACKSLASH) return one(BACKSLASH, 2);
  return { found: [once, { means: utf8(fourth), length: 4 }], open: false };
}

/** `\u0041` is one UTF-16 code unit, after this many backslashes. A character beyond U+FFFF needs two of them. */
function unitAt(bytes: Uint8Array, at: number, backslashes: number): Escapes {
  const head = backslashes + 1;
  const first = digitsAt(bytes, at + head, { base: 16, most: 4 });
  if (first.digits < 4) return first.isCut ? OPEN : NONE;
  const length = head + 4;
  if (first.value < 0xd800 || first.value > 0xdfff) return one(first.value, length);
  const next = at + length;
  for (let index = 0; index < head; index += 1) {
    const byte = bytes[next + index];
    if (byte === undefined) return OPEN;
    if (byte !== (index < backslashes ? BACKSLASH : LETTER_U)) return NONE;
  }
  const second = digitsAt(bytes, next + head, { base: 16, most: 4 });
  if (second.digits < 4) return second.isCut ? OPEN : NONE;
  const pair = String.fromCharCode(first.value, second.value).codePointAt(0) ?? 0;
  return pair > 0xffff ? one(pair, 2 * length) : NONE;
}

/** `&amp;`, `&#65;` or `&#x41;`. A number may have leading zeros, and may lack its semicolon. */
function entityAt(bytes: Uint8Array, at: number): Escapes {
  const second = bytes[at + 1];
  if (second === undefined) return OPEN;
  if (second !== HASH) return namedAt(bytes, at);
  const third = bytes[at + 2];
  if (third === undefined) return OPEN;
  const isHex = third === LETTER_X || third === CAPITAL_X;
  const head = isHex ? 3 : 2;
  const { value, digits, isCut } = digitsAt(bytes, at + head, { base: isHex ? 16 : 10, most: MOST_DIGITS });
  const isCharacter = digits > 0 && value > 0 && value <= 0x10ffff && (value < 0xd800 || value > 0xdfff);
  const length = head + digits + (bytes[at + head + digits] === SEMICOLON ? 1 : 0);
  return { found: isCharacter ? [{ means: utf8(value), length }] : [], open: isCut };
}

function namedAt(bytes: Uint8Array, at: number): Escapes {
  for (const [name, means] of NAMES) {
    let index = 1;
    while (index < name.length && bytes[at + index] === name[index]) index += 1;
    if (index === name.length) return { found: [{ means, length: index }], open: false };
    if (at + index === bytes.length) return OPEN;
  }
  return NONE;
}

interface Digits {
  readonly value: number;
  readonly digits: number;
  /** Whether the bytes end where another digit could follow. */
  readonly isCut: boolean;
}

function digitsAt(bytes: Uint8Array, at: number, { base, most }: { base: 10 | 16; most: number }): Digits {
  let value = 0;
  for (let digits = 0; digits < most; digits += 1) {
    const byte = bytes[at + digits];
    if (byte === undefined) return { value, digits, isCut: true };
    const digit = digitOf(byte);
    if (digit >= base) return { value, digits, isCut: false };
    value = value * base + digit;
  }
  return { value, digits: most, isCut: false };
}

function digitOf(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : 16;
}

function one(code: number, length: number): Escapes {
  return { found: [{ means: utf8(code), length }], open: false };
}

function utf8(code: number): Uint8Array {
  return ASCII[code] ?? Buffer.from(String.fromCodePoint(code));
}

const [PERCENT, BACKSLASH, AMPERSAND, HASH, SEMICOLON, QUOTE] = [0x25, 0x5c, 0x26, 0x23, 0x3b, 0x22];
const [LETTER_U, LETTER_X, CAPITAL_X] = [0x75, 0x78, 0x58];
/** HTML allows any number of leading zeros; a possible beginning of a secret is held back, so the number is limited. */
const MOST_DIGITS = 32;

const SHORT: ReadonlyMap<number, number> = new Map(
  Object.entries({ '"': '"', "'": "'", '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }).map(
    ([letter, means]) => [letter.charCodeAt(0), means.charCodeAt(0)],
  ),
);

const NAMES = Object.entries({ '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&apos;': "'" }).map(
  ([name, means]) => [Buffer.from(name), Buffer.from(means)] as const,
);

const ASCII = Array.from({ length: 0x80 }, (_, code) => Uint8Array.of(code));
const NONE: Escapes = { found: [], open: false };
const OPEN: Escapes = { found: [], open: true };
