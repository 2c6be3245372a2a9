import { REDACTED } from '@dragoman/protocols';
import type { Redactor } from '../gate/redactor.ts';
import { beginsEscape, type Escapes, escapesAt } from './escapes.ts';
import { type FormNode, type Forms, formsOf } from './secret-forms.ts';

/**
 * Replaces secrets with a marker, in every form in which a service may return them: plain, in hex or in base64, the
 * latter two also with blanks and line breaks between their characters. Some or all characters may be escaped.
 */
export class SecretRedactor implements Redactor {
  readonly #forms: readonly Forms[];
  readonly #mayBegin: Uint8Array;

  constructor(secrets: readonly string[]) {
    this.#forms = formsOf(secrets);
    this.#mayBegin = Uint8Array.from({ length: 256 }, (_, byte) => {
      const begins = this.#forms.some(({ root, canonical }) => root.next.has(canonical[byte] ?? byte));
      return begins || beginsEscape(byte) ? 1 : 0;
    });
  }

  readonly text = (value: string): string => {
    const clean = new Search(this.#forms, this.#mayBegin).take(Buffer.from(value), true);
    return clean.length === 1 && clean[0] !== MARKER ? value : Buffer.concat(clean).toString();
  };

  async *body(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    const search = new Search(this.#forms, this.#mayBegin);
    for await (const chunk of chunks) yield* search.take(chunk, false);
    yield* search.take(NOTHING, true);
  }
}

/**
 * One pass over a body. A thread is a possible match that has begun. Each place is read only once, however many threads
 * there are: threads that expect the same rest of a secret at the same place are merged.
 */
class Search {
  readonly #forms: readonly Forms[];
  readonly #mayBegin: Uint8Array;
  /** The held-back bytes; the first has the position `#from`. */
  #bytes: Uint8Array = NOTHING;
  #from = 0;
  /** The next place to read. */
  #at = 0;
  /** By the place at which they continue, then by node. */
  readonly #threads = new Map<number, Map<FormNode, Thread>>();
  #found: Span[] = [];

  constructor(forms: readonly Forms[], mayBegin: Uint8Array) {
    this.#forms = forms;
    this.#mayBegin = mayBegin;
  }

  /**
   * Reads more of the body. Returns the part in which no further secret can be found, with markers; at the end, all of
   * it.
   */
  take(chunk: Uint8Array, isEnd: boolean): Uint8Array[] {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
    this.#read(isEnd);
    return this.#giveOut(isEnd);
  }

  #read(isEnd: boolean): void {
    const bytes = this.#bytes;
    const from = this.#from;
    const end = from + bytes.length;
    for (; this.#at < end; this.#at += 1) {
      const byte = bytes[this.#at - from] ?? 0;
      const threads = this.#threads.size === 0 ? undefined : this.#threads.get(this.#at);
      if (threads === undefined && this.#mayBegin[byte] === 0) continue;
      const escapes = beginsEscape(byte) ? escapesAt(bytes, this.#at - from) : NO_ESCAPES;
      if (escapes.open && !isEnd) return;
      this.#threads.delete(this.#at);
      if (threads !== undefined) for (const thread of threads.values()) this.#follow(thread, byte, escapes);
      for (const forms of this.#forms) {
        if (escapes.found.length === 0 && !forms.root.next.has(forms.canonical[byte] ?? byte)) continue;
        this.#follow({ forms, node: forms.root, start: this.#at, gap: 0 }, byte, escapes);
      }
    }
  }

  #follow(thread: Thread, byte: number, { found }: Escapes): void {
    this.#step(thread, BYTES[byte] ?? NOTHING, 1);
    for (const { means, length } of found) this.#step(thread, means, length);
  }

  #step({ forms, node, start, gap }: Thread, means: Uint8Array, length: number): void {
    let next: FormNode | undefined = node;
    for (let index = 0; index < means.length && next !== undefined; index += 1) {
      const byte = means[index] ?? 0;
      next = next.next.get(forms.canonical[byte] ?? byte);
    }
    const end = this.#at + length;
    if (next !== undefined) {
      if (next.isEnd) this.#found.push({ start, end });
      if (next.next.size > 0) this.#wait({ forms, node: next, start, gap: 0 }, end);
    } else if (forms.ignoresBlanks && node !== forms.root && means.length === 1 && isBlank(means[0])) {
      if (gap + length <= MOST_BLANK) this.#wait({ forms, node, start, gap: gap + length }, end);
    }
  }

  /** Adds a thread. Of several that expect the same rest, one is kept. */
  #wait(thread: Thread, place: number): void {
    const byte = this.#bytes[place - this.#from];
    if (byte !== undefined && !canGoOn(thread, byte)) return;
    const threads = this.#threads.get(place);
    const known = threads?.get(thread.node);
    if (threads === undefined) this.#threads.set(place, new Map([[thread.node, thread]]));
    else if (known === undefined || isBefore(thread, known)) threads.set(thread.node, thread);
  }

  #giveOut(isEnd: boolean): Uint8Array[] {
    const spans = joined(this.#found);
    const until = isEnd ? this.#from + this.#bytes.length : this.#safeUntil(spans);
    const clean: Uint8Array[] = [];
    let at = this.#from;
    const give = (to: number) => {
      if (to > at) clean.push(this.#bytes.subarray(at - this.#from, to - this.#from));
    };
    for (const { start, end } of spans) {
      if (start >= until) break;
      give(start);
      clean.push(MARKER);
      at = end;
    }
    give(until);
    this.#found = spans.filter(({ start }) => start >= until);
    this.#bytes = this.#bytes.subarray(until - this.#from);
    this.#from = until;
    return clean;
  }

  /** The place up to which no byte can become part of a secret any more. */
  #safeUntil(spans: readonly Span[]): number {
    let until = this.#at;
    for (const threads of this.#threads.values())
      for (const { start } of threads.values()) until = Math.min(until, start);
    // A span that extends beyond this place may still be joined with another one.
    return spans.find(({ start, end }) => start < until && end > until)?.start ?? until;
  }
}

/** A secret of which the beginning has matched. */
interface Thread {
  readonly forms: Forms;
  readonly node: FormNode;
  readonly start: number;
  /** The bytes of blanks since its last character. */
  readonly gap: number;
}

/**
 * Whether `one` is kept instead of `other`: one with fewer blanks can continue for longer; else the earlier one is
 * kept.
 */
function isBefore(one: Thread, other: Thread): boolean {
  return one.gap === other.gap ? one.start < other.start : one.gap < other.gap;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** The spans in order, with overlapping ones joined. */
function joined(spans: readonly Span[]): readonly Span[] {
  if (spans.length < 2) return spans;
  const whole: Span[] = [];
  for (const span of spans.toSorted((one, other) => one.start - other.start)) {
    const last = whole.at(-1);
    if (last === undefined || span.start >= last.end) whole.push(span);
    else whole[whole.length - 1] = { start: last.start, end: Math.max(last.end, span.end) };
  }
  return whole;
}

function canGoOn({ forms: { canonical, ignoresBlanks }, node }: Thread, byte: number): boolean {
  return node.next.has(canonical[byte] ?? byte) || beginsEscape(byte) || (ignoresBlanks && isBlank(byte));
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || (byte !== undefined && byte >= 0x09 && byte <= 0x0d);
}

/** The most bytes of blanks between two characters: an escaped line break and the indentation of the next line fit. */
const MOST_BLANK = 128;
const BYTES = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte));
const MARKER = Buffer.from(REDACTED);
const NOTHING = new Uint8Array(0);
const NO_ESCAPES: Escapes = { found: [], open: false };
