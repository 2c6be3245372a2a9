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
export function wholeText({ text, repeats }: BriefText): string {
  const numbers = numbersIn(repeats);
  let whole = '';
  let at = 0;
  for (let next = 0; next < numbers.length; next += 3) {
    const [before, back, length] = numbers.slice(next, next + 3) as [number, number, number];
    const place = at + before;
    whole += text.slice(at, place) + text.slice(place - back, place - back + length);
    at = place;
  }
  return whole + text.slice(at);
}

/** The same between two other texts. */
export function briefBetween(head: string, { text, repeats }: BriefText, tail: string): BriefText {
  const first = /^[P-o]*[0-O]/.exec(repeats)?.[0] ?? '';
  const [before = 0] = numbersIn(first);
  return { text: head + text + tail, repeats: inDigits([head.length + before]) + repeats.slice(first.length) };
}

/** Puts a text together, whole and brief at once. */
export class BriefWriter {
  #whole = '';
  #brief = '';
  readonly #repeats: number[] = [];
  /** What was added since the last repeat. */
  #added = 0;

  /** Where in the brief text the next part goes, for who repeats it later. */
  get place(): number {
    return this.#brief.length;
  }

  get whole(): string {
    return this.#whole;
  }

  /** `undefined` where it would save too little to be worth putting together again. */
  get brief(): BriefText | undefined {
    if (this.#whole.length - this.#brief.length < LEAST_SAVED) return undefined;
    return { text: this.#brief, repeats: inDigits(this.#repeats) };
  }

  add(part: string): void {
    this.#whole += part;
    this.#brief += part;
    this.#added += part.length;
  }

  /** Adds what was added before, as a part or a piece of one, at this place. */
  repeat(part: string, place: number): void {
    this.#whole += part;
    this.#repeats.push(this.#added, this.#brief.length - place, part.length);
    this.#added = 0;
  }
}

function inDigits(numbers: readonly number[]): string {
  const digits = Buffer.allocUnsafe(numbers.length * MOST_DIGITS);
  let at = 0;
  for (const number of numbers) {
    let left = number;
    for (; left > 31; left >>>= 5) digits[at++] = MORE + (left & 31);
    digits[at++] = LAST + left;
  }
  return digits.toString('latin1', 0, at);
}

function numbersIn(repeats: string): number[] {
  const numbers: number[] = [];
  let number = 0;
  let unit = 1;
  for (let at = 0; at < repeats.length; at++) {
    const code = repeats.charCodeAt(at);
    number += (code < MORE ? code - LAST : code - MORE) * unit;
    unit *= 32;
    if (code >= MORE) continue;
    numbers.push(number);
    number = 0;
    unit = 1;
  }
  return numbers;
}

/** The codes of `0` and `P`. */
const LAST = 48;
const MORE = 80;
/** Of a place in a text. */
const MOST_DIGITS = 7;
/** A quarter of a page of the database. */
const LEAST_SAVED = 1024;
