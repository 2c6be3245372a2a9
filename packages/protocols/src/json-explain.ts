import { encodeUtf8 } from './platform.ts';
import { pointerTo } from './pointer.ts';
import { clip } from './validation.ts';

/** Limits for JSON text. The edge has already limited its bytes. */
export interface JsonLimits {
  /** Levels of nesting. Default: 64. Very deep values cannot be serialized or cloned. */
  readonly depth?: number;
  /** Values in all, including arrays and objects. Default: see `mostNodes`. */
  readonly nodes?: number;
  /**
   * Different keys in a text of more than `LONG_TEXT` characters. Default: 10,000, because a new key costs `JSON.parse`
   * far more than a value does.
   */
  readonly keys?: number;
  /** Bytes of a key, as UTF-8 without its escapes. Default: no limit. */
  readonly keyBytes?: number;
  /** Bytes of a string that is a value, as UTF-8 without its escapes. Default: no limit. */
  readonly stringBytes?: number;
  /** Characters of a number. Default: 64. */
  readonly numberCharacters?: number;
  /**
   * `finite` (the default) takes the nearest double. `exact`, for signed text, refuses a number that a double changes,
   * such as a 64-bit id: two readers would otherwise sign different bytes.
   */
  readonly numbers?: 'exact' | 'finite';
}

/** A problem of a text, and its position. */
export interface JsonFault {
  readonly code:
    | 'not_utf8'
    | 'not_json'
    | 'duplicate_key'
    | 'lone_surrogate'
    | 'inexact_number'
    | 'too_deep'
    | 'too_many'
    | 'too_long';
  /** In UTF-16 units of the text; in bytes if it is not UTF-8. */
  readonly offset: number;
  readonly pointer: string;
  readonly message: string;
  readonly suggestion?: string;
}

/** The fault at the first byte that is not UTF-8; `undefined` if there is none. */
export function explainBytes(bytes: Uint8Array): JsonFault | undefined {
  let at = 0;
  while (at < bytes.length) {
    // ASCII text is valid.
    if ((bytes[at] ?? 0) < 0x80) {
      at++;
      continue;
    }
    const length = sequenceLength(bytes, at);
    if (length === 0) {
      const byte = (bytes[at] ?? 0).toString(16).padStart(2, '0');
      const utf16 = at === 0 && (byte === 'ff' || byte === 'fe');
      return {
        code: 'not_utf8',
        offset: at,
        pointer: '',
        message: `expected UTF-8; byte 0x${byte} at offset ${at} is invalid`,
        ...(utf16 && { suggestion: 'send the text as UTF-8: this looks like UTF-16' }),
      };
    }
    at += length;
  }
  return undefined;
}

/** The first fault of a text by RFC 8259; `undefined` if there is none. */
export function explainText(text: string, limits: JsonLimits = {}): JsonFault | undefined {
  return new JsonReader(text, limits).read();
}

/** Whether a number is accepted: short, finite and, in `exact` mode, not changed by a double. */
export function takesNumber(literal: string, limits: JsonLimits = {}): boolean {
  if (literal.length > (limits.numberCharacters ?? DEFAULT_JSON_LIMITS.numberCharacters)) return false;
  const value = Number(literal);
  return Number.isFinite(value) && (limits.numbers !== 'exact' || isSameNumber(literal, value));
}

/** Whether a text has at most this number of bytes as UTF-8. */
export function fitsInto(bytes: number, text: string): boolean {
  // A code unit takes at most three bytes, so short texts need no counting.
  return text.length * 3 <= bytes || (text.length <= bytes && encodeUtf8(text).length <= bytes);
}

/**
 * The default limit of values for a text of this length: no limit up to 64 KiB, then 32,768, or one for every 8
 * characters if that is more, but at most 200,000.
 */
export function mostNodes(length: number): number {
  return Math.min(MOST_NODES, Math.max(LONG_TEXT / 2, Math.ceil(length / 8)));
}

/** The fault of a text with too many values, with the position of the first one beyond the limit. */
export function tooMany(length: number, offset: number, { nodes = mostNodes(length) }: JsonLimits): JsonFault {
  const message = `expected at most ${nodes} values in all; one more begins at offset ${offset}`;
  return { code: 'too_many', offset, pointer: '', message };
}

/**
 * Characters. Longer text is scanned before it is parsed. Shorter text cannot have more than half as many values,
 * because a value takes at least two characters, including its comma or bracket.
 */
export const LONG_TEXT = 65_536;

/** Limits for data that is used only by its reader and already limited in bytes, such as API responses. */
export const DATA_LIMITS = { nodes: 20_000_000, keys: 20_000_000 } as const;

export const DEFAULT_JSON_LIMITS: Required<Omit<JsonLimits, 'nodes'>> = {
  depth: 64,
  keys: 10_000,
  keyBytes: Number.POSITIVE_INFINITY,
  stringBytes: Number.POSITIVE_INFINITY,
  numberCharacters: 64,
  numbers: 'finite',
};

/** An open container: an array, or an object with the keys seen so far. */
interface Level {
  readonly keys: Set<string> | undefined;
  /** The current item or member; undefined while a key is read. */
  segment: string | number | undefined;
}

/** Walks JSON text once, without recursion, so that deep input cannot overflow the stack. */
class JsonReader {
  readonly #text: string;
  readonly #limits: Required<JsonLimits>;
  readonly #levels: Level[] = [];
  readonly #keys: Set<string> | undefined;
  #at = 0;
  #nodes = 0;

  constructor(text: string, limits: JsonLimits) {
    this.#text = text;
    this.#limits = { nodes: mostNodes(text.length), ...DEFAULT_JSON_LIMITS, ...limits };
    this.#keys = text.length > LONG_TEXT ? new Set() : undefined;
  }

  read(): JsonFault | undefined {
    if (this.#text.startsWith('\uFEFF')) {
      return this.#fault('not_json', 0, 'expected JSON; got a byte order mark', 'send the text without a BOM');
    }
    this.#skipSpace();
    if (this.#at === this.#text.length) return this.#fault('not_json', 0, 'expected a JSON value; the text is empty');
    // Each iteration reads one value and the brackets that close after it.
    for (;;) {
      const fault = this.#value();
      if (fault === 'opened') continue;
      if (fault !== undefined) return fault;
      const ended = this.#afterValue();
      if (ended === 'more') continue;
      return ended;
    }
  }

  #value(): JsonFault | 'opened' | undefined {
    this.#skipSpace();
    const start = this.#at;
    if (++this.#nodes > this.#limits.nodes) {
      const { code, message } = tooMany(this.#text.length, start, this.#limits);
      return this.#fault(code, start, message);
    }
    const character = this.#text[start];
    if (character === '{' || character === '[') return this.#open(character);
    if (character === '"') {
      const string = this.#string('a value', this.#limits.stringBytes);
      return typeof string === 'string' ? undefined : string;
    }
    return this.#isShortInteger() || this.#isWord(character) ? undefined : this.#number();
  }

  /** Fast path for short numbers, which no double changes. */
  #isShortInteger(): boolean {
    const start = this.#text.charCodeAt(this.#at) === MINUS ? this.#at + 1 : this.#at;
    let end = start;
    while (isDigit(this.#text.charCodeAt(end))) end++;
    const digits = end - start;
    if (digits === 0 || digits > MOST_EXACT_DIGITS || end - this.#at > this.#limits.numberCharacters) return false;
    // No leading zero, not -0, and not a prefix of a longer number.
    if (this.#text.charCodeAt(start) === ZERO && (digits > 1 || start > this.#at)) return false;
    if (end < this.#text.length && !ENDS_NUMBER.has(this.#text.charCodeAt(end))) return false;
    this.#at = end;
    return true;
  }

  #isWord(character: string | undefined): boolean {
    const word = character === 't' ? 'true' : character === 'f' ? 'false' : character === 'n' ? 'null' : undefined;
    if (word === undefined || !this.#text.startsWith(word, this.#at)) return false;
    if (GOES_ON.test(this.#text[this.#at + word.length] ?? '')) return false;
    this.#at += word.length;
    return true;
  }

  #open(bracket: '{' | '['): JsonFault | 'opened' | undefined {
    if (this.#levels.length >= this.#limits.depth) {
      const message = `expected at most ${this.#limits.depth} levels of nesting; one more opens at offset ${this.#at}`;
      return this.#fault('too_deep', this.#at, message);
    }
    this.#at++;
    this.#skipSpace();
    if (this.#text[this.#at] === (bracket === '{' ? '}' : ']')) {
      this.#at++;
      return undefined;
    }
    if (bracket === '[') {
      this.#levels.push({ keys: undefined, segment: 0 });
      return 'opened';
    }
    const keys = new Set<string>();
    const level: Level = { keys, segment: undefined };
    this.#levels.push(level);
    return this.#key(level, keys) ?? 'opened';
  }

  /** Reads what follows a value: a comma (and the key of the next member), closing brackets, or the end of the text. */
  #afterValue(): JsonFault | 'more' | undefined {
    for (;;) {
      this.#skipSpace();
      const level = this.#levels.at(-1);
      const character = this.#text[this.#at];
      if (level === undefined) {
        if (character === undefined) return undefined;
        const message = `expected the end of the text after one JSON value; got ${this.#here()}`;
        const fix = STARTS_VALUE.test(character) ? 'send each value as a separate message' : this.#fix();
        return this.#fault('not_json', this.#at, message, fix);
      }
      const close = level.keys === undefined ? ']' : '}';
      if (character === close) {
        this.#at++;
        this.#levels.pop();
        continue;
      }
      if (character !== ',') {
        const fix = STARTS_VALUE.test(character ?? '') ? 'put a comma before it' : this.#fix();
        return this.#fault('not_json', this.#at, `expected , or ${close}; got ${this.#here()}`, fix);
      }
      this.#at++;
      this.#skipSpace();
      if (level.keys === undefined) {
        level.segment = Number(level.segment) + 1;
        if (this.#text[this.#at] === ']') {
          const message = `expected a value after the comma; got ] at offset ${this.#at}`;
          return this.#fault('not_json', this.#at, message, 'remove the last comma');
        }
        return 'more';
      }
      return this.#key(level, level.keys) ?? 'more';
    }
  }

  #key(level: Level, keys: Set<string>): JsonFault | undefined {
    const start = this.#at;
    const character = this.#text[start] ?? '';
    level.segment = undefined;
    if (character !== '"') {
      const trailing = character === '}' && keys.size > 0;
      const bare = /[\w$]/.test(character) ? 'put the key in double quotes' : this.#fix();
      const message = `expected a key in double quotes; got ${this.#here()}`;
      return this.#fault('not_json', start, message, trailing ? 'remove the last comma' : bare);
    }
    const key = this.#string('a key', this.#limits.keyBytes);
    if (typeof key !== 'string') return key;
    level.segment = key;
    if (keys.has(key)) {
      const message = `expected each key once; ${quote(key)} is repeated at offset ${start}`;
      return this.#fault('duplicate_key', start, message, 'keep one of them');
    }
    keys.add(key);
    if (this.#keys !== undefined && this.#keys.add(key).size > this.#limits.keys) {
      const message = `expected at most ${this.#limits.keys} different keys in all; one more is at offset ${start}`;
      return this.#fault('too_many', start, message, 'send the entries as a list, or in several messages');
    }
    this.#skipSpace();
    if (this.#text[this.#at] !== ':') {
      const message = `expected : after the key ${quote(key)}; got ${this.#here()}`;
      return this.#fault('not_json', this.#at, message);
    }
    this.#at++;
    return undefined;
  }

  #string(what: string, maxBytes: number): string | JsonFault {
    const start = this.#at;
    let isPlain = true;
    for (this.#at++; ; this.#at++) {
      const code = this.#text.charCodeAt(this.#at);
      if (code === QUOTE) break;
      if (code >= SPACE && code !== BACKSLASH) {
        if (code >= FIRST_SURROGATE) isPlain = false;
        continue;
      }
      isPlain = false;
      const character = this.#text[this.#at];
      if (character === undefined) {
        const message = `expected a closing " for ${what} that opens at offset ${start}; got the end of the text`;
        return this.#fault('not_json', start, message);
      }
      if (character < ' ') {
        const fix = 'write it as an escape, \\n for a line break';
        const number = code.toString(16).toUpperCase().padStart(4, '0');
        const message = `expected no raw control character in ${what}; got U+${number} at offset ${this.#at}`;
        return this.#fault('not_json', this.#at, message, fix);
      }
      const escaped = ESCAPE.exec(this.#text.slice(this.#at, this.#at + 6));
      if (escaped === null) {
        return this.#fault('not_json', this.#at, `expected an escape such as \\n or \\u0041; got ${this.#here()}`);
      }
      this.#at += escaped[0].length - 1;
    }
    this.#at++;
    const written = this.#text.slice(start, this.#at);
    const value = isPlain ? written.slice(1, -1) : (JSON.parse(written) as string);
    const lone = isPlain ? null : LONE_SURROGATE.exec(value);
    if (lone === null) {
      if (fitsInto(maxBytes, value)) return value;
      const { length } = encodeUtf8(value);
      const message = `expected ${what} of at most ${maxBytes} bytes; one of ${length} opens at offset ${start}`;
      return this.#fault('too_long', start, message);
    }
    const code = lone[0].charCodeAt(0).toString(16);
    const message = `expected complete characters in ${what}; got the lone surrogate \\u${code}`;
    return this.#fault('lone_surrogate', start, message, 'send both halves, or the character itself');
  }

  #number(): JsonFault | undefined {
    const start = this.#at;
    NUMBER.lastIndex = start;
    const literal = NUMBER.exec(this.#text)?.[0];
    const next = literal === undefined ? '' : (this.#text[start + literal.length] ?? '');
    if (literal === undefined || /[0-9A-Za-z_.+-]/.test(next)) {
      return this.#fault('not_json', start, `expected a JSON value; got ${this.#here()}`, this.#fix());
    }
    this.#at += literal.length;
    if (takesNumber(literal, this.#limits)) return undefined;
    if (takesNumber(literal, { ...this.#limits, numbers: 'finite' })) {
      const negativeZero = Object.is(Number(literal), -0);
      const message = `expected a number that fits a double; ${literal} would become ${String(Number(literal))}`;
      return this.#fault('inexact_number', start, message, negativeZero ? 'write 0' : 'send it as a string');
    }
    const most = this.#limits.numberCharacters;
    const message = `expected a finite number of at most ${most} characters; got ${clip(literal, LONGEST_QUOTED)}`;
    return this.#fault('inexact_number', start, message, 'send it as a string');
  }

  /** Suggestions for the syntax of other languages. */
  #fix(): string | undefined {
    const rest = this.#text.slice(this.#at, this.#at + 24);
    return FIXES.find(([pattern]) => pattern.test(rest))?.[1];
  }

  #here(): string {
    const character = this.#text[this.#at];
    if (character === undefined) return 'the end of the text';
    return `${quote(this.#text.slice(this.#at, this.#at + LONGEST_QUOTED + 1))} at offset ${this.#at}`;
  }

  #skipSpace(): void {
    while (isSpace(this.#text.charCodeAt(this.#at))) this.#at++;
  }

  #fault(code: JsonFault['code'], offset: number, message: string, suggestion?: string): JsonFault {
    const segments = this.#levels.map((level) => level.segment).filter((segment) => segment !== undefined);
    const pointer = pointerTo('', ...segments);
    return { code, offset, pointer, message, ...(suggestion !== undefined && { suggestion }) };
  }
}

/** RFC 8259, section 2. */
function isSpace(code: number): boolean {
  return code === SPACE || code === 0x0a || code === 0x0d || code === 0x09;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= ZERO + 9;
}

/**
 * Whether a literal keeps its value when it is read as a double and written again. A fraction with 17 digits, such as
 * 0.10000000000000001 for 0.1, counts as the same: many writers print all the digits that a double can need.
 */
function isSameNumber(literal: string, value: number): boolean {
  const shortest = String(value);
  if (literal === shortest) return true;
  const digits = significantDigits(literal);
  if (digits === '') return !literal.startsWith('-');
  // Any 15 digits survive, except in subnormal numbers.
  if (digits.length <= 15 && Math.abs(value) >= SMALLEST_NORMAL) return true;
  if (digits === significantDigits(shortest)) return true;
  return /[.eE]/.test(literal) && digits === significantDigits(value.toPrecision(17));
}

/** The digits of a decimal without leading and trailing zeros: equal for all spellings of one number. */
function significantDigits(literal: string): string {
  let digits = '';
  for (const character of literal) {
    if (character === 'e' || character === 'E') break;
    if ((character >= '1' && character <= '9') || (character === '0' && digits !== '')) digits += character;
  }
  return digits.endsWith('0') ? digits.replace(/0+$/, '') : digits;
}

/** The length of the UTF-8 sequence at `at`, 0 if it is invalid: RFC 3629, so no overlong forms and no surrogates. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  const follows = (offset: number, low = 0x80, high = 0xbf) => {
    const byte = bytes[at + offset] ?? 0;
    return byte >= low && byte <= high;
  };
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    return follows(1, first === 0xe0 ? 0xa0 : 0x80, first === 0xed ? 0x9f : 0xbf) && follows(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    return follows(1, first === 0xf0 ? 0x90 : 0x80, first === 0xf4 ? 0x8f : 0xbf) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

/** Input text in quotes, shortened, with invisible characters as codes. */
function quote(text: string): string {
  return JSON.stringify(clip(text, LONGEST_QUOTED)).replaceAll(INVISIBLE, (character) => {
    const units = character.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'));
    return units.map((unit) => `\\u${unit}`).join('');
  });
}

const MOST_NODES = 200_000;
const LONGEST_QUOTED = 25;
const SMALLEST_NORMAL = 2 ** -1022;

/** Syntax of other languages, and the JSON for it. */
const FIXES: readonly (readonly [RegExp, string])[] = [
  [/^(?:True|TRUE)\b/, 'write true'],
  [/^(?:False|FALSE)\b/, 'write false'],
  [/^(?:None|Null|NULL|nil|undefined)\b/, 'write null'],
  [/^[-+]?(?:nan|inf|infinity)\b/i, 'write null: JSON has no such number'],
  [/^['`\u2018\u2019\u201C\u201D]/, 'put strings in double quotes'],
  [/^(?:\/[/*]|#)/, 'remove the comment: JSON has none'],
  [/^\+/, 'remove the plus sign'],
  [/^-?\./, 'put a digit before the point'],
  [/^-?0[xXoObB]/, 'write the number in decimal'],
  [/^-?0\d/, 'remove the leading zero'],
  [/^-?\d+\.(?!\d)/, 'put a digit after the point'],
  [/^\0/, 'send the text as UTF-8: this looks like UTF-16'],
];

const STARTS_VALUE = /["{[\d-]/;
const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const ZERO = 0x30;
const FIRST_SURROGATE = 0xd800;
/** A double preserves any 15 digits. */
const MOST_EXACT_DIGITS = 15;
const ENDS_NUMBER: ReadonlySet<number> = new Set([...' \t\n\r,]}'].map((character) => character.charCodeAt(0)));
const GOES_ON = /[A-Za-z0-9_]/;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const ESCAPE = /^\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})/;
/** Control and format characters, and every space but the common one. */
const INVISIBLE = /(?! )[\p{Cc}\p{Cf}\p{Z}]/gu;
const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/;
