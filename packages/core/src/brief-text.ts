/**
 * A text in which parts that stand in it already are left out. For each of them there are three numbers: how much of the text
 * comes before it, since the last such part; how far back from there it begins, in this text; and how long it is.
 */
export interface BriefText {
  readonly text: string;
  /** The numbers in base 32, the least digit first: as `0` … `O`, or as `P` … `o` where another follows. */
  readonly repeats: string;
}

/** The text with nothing left out. */
export function wholeText(brief: string | BriefText): string {
  if (typeof brief === 'string') return brief;
  const { text, repeats } = brief;
  const numbers = new NumberReader(repeats);
  let whole = '';
  let at = 0;
  while (!numbers.isOver) {
    const before = numbers.next();
    if (before > 0) whole += text.slice(at, at + before);
    at += before;
    const start = at - numbers.next();
    whole += text.slice(start, start + numbers.next());
  }
  return whole + text.slice(at);
}

/** The same between two other texts. */
export function textBetween(head: string, brief: string | BriefText, tail: string): string | BriefText {
  if (typeof brief === 'string') return head + brief + tail;
  const { text, repeats } = brief;
  const numbers = new NumberReader(repeats);
  const first = new NumberWriter();
  first.add(head.length + numbers.next());
  return { text: head + text + tail, repeats: first.digits + numbers.rest };
}

/** Puts a text together, leaving out what is repeated. */
export class BriefWriter {
  #text = '';
  readonly #repeats = new NumberWriter();
  /** What was added since the last repeat. */
  #added = 0;
  #saved = 0;

  /** Where the next part goes, for who repeats it later. */
  get place(): number {
    return this.#text.length;
  }

  add(part: string): void {
    this.#text += part;
    this.#added += part.length;
  }

  /** Adds what stands from one place to another. */
  repeat(from: number, to: number): void {
    this.#repeats.add(this.#added);
    this.#repeats.add(this.#text.length - from);
    this.#repeats.add(to - from);
    this.#added = 0;
    this.#saved += to - from;
  }

  /** What was put together; whole where leaving out saves too little. */
  end(): string | BriefText {
    const brief = { text: this.#text, repeats: this.#repeats.digits };
    return this.#saved < LEAST_SAVED ? wholeText(brief) : brief;
  }
}

class NumberWriter {
  #codes: Buffer = NONE;
  #length = 0;

  get digits(): string {
    return this.#codes.toString('latin1', 0, this.#length);
  }

  add(number: number): void {
    if (this.#length + MOST_DIGITS > this.#codes.length) {
      const room = Buffer.allocUnsafe(this.#codes.length * 2 + SOME_DIGITS);
      this.#codes.copy(room);
      this.#codes = room;
    }
    let left = number;
    for (; left > 31; left >>>= 5) this.#codes[this.#length++] = MORE + (left & 31);
    this.#codes[this.#length++] = LAST + left;
  }
}

class NumberReader {
  readonly #digits: string;
  #at = 0;

  constructor(digits: string) {
    this.#digits = digits;
  }

  get isOver(): boolean {
    return this.#at >= this.#digits.length;
  }

  get rest(): string {
    return this.#digits.slice(this.#at);
  }

  next(): number {
    let number = 0;
    for (let bits = 0; ; bits += 5) {
      const code = this.#digits.charCodeAt(this.#at++);
      if (!(code >= MORE)) return number | ((code - LAST) << bits);
      number |= (code - MORE) << bits;
    }
  }
}

/** The codes of `0` and `P`. */
const LAST = 48;
const MORE = 80;
/** Of a place in a text: none is longer than 2 ** 30. */
const MOST_DIGITS = 6;
const SOME_DIGITS = 512;
const NONE = Buffer.alloc(0);
/** A quarter of a page of the database. */
const LEAST_SAVED = 1024;
