import { pointerTo } from './pointer.ts';

/** Bounds on JSON text. Bytes are the edge's to bound, before this. */
export interface JsonLimits {
  /** Levels of nesting; 64 unless told. Deeper values parse but can be neither written nor cloned. */
  readonly depth?: number;
  /**
   * `exact` (the default) refuses a number a double changes, such as a 64-bit id: it would be relayed, compared or
   * signed as another one. `finite` takes the nearest double, for answers nobody signs.
   */
  readonly numbers?: 'exact' | 'finite';
}

/** What is wrong with a text, and where. */
export interface JsonFault {
  readonly code: 'not_utf8' | 'not_json' | 'duplicate_key' | 'lone_surrogate' | 'inexact_number' | 'too_deep';
  /** In UTF-16 units of the text; in bytes when it is not even text. */
  readonly offset: number;
  readonly pointer: string;
  readonly message: string;
  readonly suggestion?: string;
}

/** The first byte that is not UTF-8. */
export function explainBytes(bytes: Uint8Array): JsonFault | undefined {
  let at = 0;
  while (at < bytes.length) {
    const length = sequenceLength(bytes, at);
    if (length === 0) {
      const byte = (bytes[at] ?? 0).toString(16).padStart(2, '0');
      const utf16 = at === 0 && (byte === 'ff' || byte === 'fe');
      return {
        code: 'not_utf8',
        offset: at,
        pointer: '',
        message: `expected UTF-8; byte 0x${byte} at offset ${at} does not belong to it`,
        ...(utf16 && { suggestion: 'this looks like UTF-16: send the text as UTF-8' }),
      };
    }
    at += length;
  }
  return undefined;
}

/** The first fault of a text, by reading it as RFC 8259 says; `undefined` when there is none. */
export function explainText(text: string, limits: JsonLimits = {}): JsonFault | undefined {
  return new JsonReader(text, limits).read();
}

/** One place the reader is inside of: an array with its next index, or an object with the keys it has seen. */
interface Level {
  readonly keys: Set<string> | undefined;
  segment: string | number;
}

/** Walks JSON text once, without recursion: the depth of hostile text must not be the depth of our stack. */
class JsonReader {
  readonly #text: string;
  readonly #depth: number;
  readonly #exact: boolean;
  readonly #levels: Level[] = [];
  #at = 0;

  constructor(text: string, limits: JsonLimits) {
    this.#text = text;
    this.#depth = limits.depth ?? 64;
    this.#exact = limits.numbers !== 'finite';
  }

  read(): JsonFault | undefined {
    if (this.#text.startsWith('\uFEFF')) {
      return this.#fault('not_json', 0, 'expected JSON; a byte order mark came', 'send the text without a BOM');
    }
    this.#skipSpace();
    if (this.#at === this.#text.length) return this.#fault('not_json', 0, 'expected a JSON value; the text is empty');
    // One turn reads one value and, after it, everything that closes with it.
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
    const character = this.#text[start];
    if (character === '{' || character === '[') return this.#open(character);
    if (character === '"') {
      const string = this.#string('a value');
      return typeof string === 'string' ? undefined : string;
    }
    const word = /^(?:true|false|null)(?![A-Za-z0-9_])/.exec(this.#text.slice(start, start + 6));
    if (word !== null) {
      this.#at += word[0].length;
      return undefined;
    }
    return this.#number();
  }

  #open(bracket: '{' | '['): JsonFault | 'opened' | undefined {
    if (this.#levels.length >= this.#depth) {
      const message = `expected at most ${this.#depth} levels of nesting; one more opens at offset ${this.#at}`;
      return this.#fault('too_deep', this.#at, message);
    }
    this.#at++;
    this.#skipSpace();
    const level: Level = { keys: bracket === '{' ? new Set() : undefined, segment: 0 };
    if (this.#text[this.#at] === (bracket === '{' ? '}' : ']')) {
      this.#at++;
      return undefined;
    }
    this.#levels.push(level);
    return level.keys === undefined ? 'opened' : (this.#key(level, level.keys) ?? 'opened');
  }

  /** After a value: a comma and on, a closing bracket and up, or the end of the text. */
  #afterValue(): JsonFault | 'more' | undefined {
    for (;;) {
      this.#skipSpace();
      const level = this.#levels.at(-1);
      const character = this.#text[this.#at];
      if (level === undefined) {
        if (character === undefined) return undefined;
        const message = `expected the end of the text after one JSON value; ${this.#here()} came`;
        return this.#fault('not_json', this.#at, message);
      }
      const close = level.keys === undefined ? ']' : '}';
      if (character === close) {
        this.#at++;
        this.#levels.pop();
        continue;
      }
      if (character !== ',') return this.#fault('not_json', this.#at, `expected , or ${close}; ${this.#here()} came`);
      this.#at++;
      this.#skipSpace();
      if (level.keys === undefined) {
        level.segment = Number(level.segment) + 1;
        if (this.#text[this.#at] === ']') {
          return this.#fault('not_json', this.#at, 'expected a value after the comma; ] came', 'remove the last comma');
        }
        return 'more';
      }
      return this.#key(level, level.keys) ?? 'more';
    }
  }

  #key(level: Level, keys: Set<string>): JsonFault | undefined {
    const start = this.#at;
    if (this.#text[start] !== '"') {
      const trailing = this.#text[start] === '}' && keys.size > 0;
      const fix = trailing ? 'remove the last comma' : 'put the key in double quotes';
      return this.#fault('not_json', start, `expected a key in double quotes; ${this.#here()} came`, fix);
    }
    const key = this.#string('a key');
    if (typeof key !== 'string') return key;
    level.segment = key;
    if (keys.has(key)) {
      const message = `expected each key once; ${JSON.stringify(key)} comes again at offset ${start}`;
      return this.#fault('duplicate_key', start, message, 'keep one of them');
    }
    keys.add(key);
    this.#skipSpace();
    if (this.#text[this.#at] !== ':') {
      return this.#fault('not_json', this.#at, `expected : after the key ${JSON.stringify(key)}; ${this.#here()} came`);
    }
    this.#at++;
    return undefined;
  }

  #string(what: string): string | JsonFault {
    const start = this.#at;
    for (this.#at++; ; this.#at++) {
      const character = this.#text[this.#at];
      if (character === undefined) {
        return this.#fault('not_json', start, `expected a closing " for ${what} that opens at offset ${start}`);
      }
      if (character === '"') break;
      if (character < ' ') {
        const fix = 'write it as an escape, \\n for a line break';
        const code = character.charCodeAt(0).toString(16).padStart(4, '0');
        return this.#fault('not_json', this.#at, `expected no raw control character in a string; U+${code} came`, fix);
      }
      if (character === '\\') {
        const escaped = ESCAPE.exec(this.#text.slice(this.#at, this.#at + 6));
        if (escaped === null) {
          return this.#fault('not_json', this.#at, `expected an escape such as \\n or \\u0041; ${this.#here()} came`);
        }
        this.#at += escaped[0].length - 1;
      }
    }
    this.#at++;
    const value = JSON.parse(this.#text.slice(start, this.#at)) as string;
    const lone = LONE_SURROGATE.exec(value);
    if (lone === null) return value;
    const code = lone[0].charCodeAt(0).toString(16);
    const message = `expected whole characters in ${what}; the lone surrogate \\u${code} is half of one`;
    return this.#fault('lone_surrogate', start, message, 'send both halves, or the character itself');
  }

  #number(): JsonFault | undefined {
    const start = this.#at;
    NUMBER.lastIndex = start;
    const literal = NUMBER.exec(this.#text)?.[0];
    const next = literal === undefined ? '' : (this.#text[start + literal.length] ?? '');
    if (literal === undefined || /[0-9A-Za-z_.+-]/.test(next)) {
      return this.#fault('not_json', start, `expected a JSON value; ${this.#here()} came`, this.#wordFix());
    }
    this.#at += literal.length;
    if (literal.length > LONGEST_NUMBER || !Number.isFinite(Number(literal))) {
      const message = `expected a finite number of at most ${LONGEST_NUMBER} characters; ${clip(literal)} came`;
      return this.#fault('inexact_number', start, message, 'send it as a string');
    }
    if (this.#exact && !survivesDouble(literal)) {
      const kept = Object.is(Number(literal), -0) ? '0' : String(Number(literal));
      const message = `expected a number that a double holds exactly; ${literal} would become ${kept}`;
      return this.#fault('inexact_number', start, message, 'send it as a string');
    }
    return undefined;
  }

  /** What other languages write where JSON has a word of its own. */
  #wordFix(): string | undefined {
    const word = /^[-+]?[A-Za-z_']+/.exec(this.#text.slice(this.#at, this.#at + 12))?.[0] ?? '';
    if (word.startsWith("'")) return 'put strings in double quotes';
    return { True: 'write true', False: 'write false', None: 'write null', undefined: 'write null', NaN: 'write null' }[
      word
    ];
  }

  #here(): string {
    const character = this.#text[this.#at];
    if (character === undefined) return 'the end of the text';
    return `${JSON.stringify(clip(this.#text.slice(this.#at, this.#at + 24)))} at offset ${this.#at}`;
  }

  #skipSpace(): void {
    SPACE.lastIndex = this.#at;
    SPACE.exec(this.#text);
    this.#at = SPACE.lastIndex;
  }

  #fault(code: JsonFault['code'], offset: number, message: string, suggestion?: string): JsonFault {
    const pointer = pointerTo('', ...this.#levels.map((level) => level.segment));
    return { code, offset, pointer, message, ...(suggestion !== undefined && { suggestion }) };
  }
}

/** Whether reading the literal as a double and writing it again gives a number of the same value. */
function survivesDouble(literal: string): boolean {
  const value = Number(literal);
  if (Object.is(value, -0)) return false;
  return significand(literal) === significand(String(value));
}

/** A decimal literal as `digits e exponent` with no zero at either end, so that equal values are equal strings. */
function significand(literal: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const trimmed = digits.replace(/0+$/, '');
  if (trimmed === '') return '0';
  return `${sign}${trimmed}e${Number(exponent) - fraction.length + digits.length - trimmed.length}`;
}

/** Bytes in the UTF-8 sequence at `at`, 0 when it is none: RFC 3629, so no overlong forms and no surrogates. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  const follows = (offset: number, low = 0x80, high = 0xbf) => {
    const byte = bytes[at + offset] ?? 0;
    return byte >= low && byte <= high;
  };
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    return follows(1, first === 0xe0 ? 0xa0 : 0x80, first === 0xed ? 0x9f : 0xbf) && follows(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    return follows(1, first === 0xf0 ? 0x90 : 0x80, first === 0xf4 ? 0x8f : 0xbf) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

function clip(text: string): string {
  return text.length > 24 ? `${text.slice(0, 24)}…` : text;
}

const LONGEST_NUMBER = 64;
const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const ESCAPE = /^\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})/;
const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/;
