import { REDACTED } from '@dragoman/protocols';
import type { Redactor } from '../gate/redactor.ts';
import { type Pattern, patternsOf, type Spelling } from './encodings.ts';
import { type Begun, FirstSpellings } from './first-spellings.ts';

/** Finds secrets in every form a service may give them back in, and puts a marker in their place. */
export class SecretRedactor implements Redactor {
  readonly #begun: FirstSpellings;

  constructor(secrets: readonly string[]) {
    this.#begun = new FirstSpellings(secrets.flatMap(patternsOf));
  }

  readonly text = (value: string): string => {
    const { clean, held } = this.#scan(Buffer.from(value), true);
    return Buffer.concat([...clean, held]).toString();
  };

  async *body(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    let before: Uint8Array = NOTHING;
    for await (const chunk of chunks) {
      const { clean, held } = this.#scan(before.length === 0 ? chunk : Buffer.concat([before, chunk]), false);
      yield* clean;
      before = held;
    }
    yield* this.#scan(before, true).clean;
  }

  /** What is clean for good, and from where on more bytes could make it a secret. At the end nothing is held. */
  #scan(bytes: Uint8Array, isEnd: boolean): { clean: Uint8Array[]; held: Uint8Array } {
    const clean: Uint8Array[] = [];
    let from = 0;
    for (let at = 0; at < bytes.length; ) {
      const begun = this.#begun.at(bytes, at);
      const found = begun.patterns.length === 0 ? { end: -1, open: begun.open } : longest(begun, bytes, at);
      if (found.open && !isEnd) {
        if (at > from) clean.push(bytes.subarray(from, at));
        return { clean, held: bytes.subarray(at) };
      }
      if (found.end < 0) {
        at += 1;
        continue;
      }
      if (at > from) clean.push(bytes.subarray(from, at));
      clean.push(MARKER);
      at = found.end;
      from = at;
    }
    if (from < bytes.length) clean.push(bytes.subarray(from));
    return { clean, held: NOTHING };
  }
}

interface Match {
  /** Where it ends; -1 for none. */
  readonly end: number;
  /** The bytes ran out before it could be told. */
  readonly open: boolean;
}

function longest(begun: Begun, bytes: Uint8Array, at: number): Match {
  let end = -1;
  let { open } = begun;
  for (const pattern of begun.patterns) {
    const match = matchAt(pattern, bytes, at);
    end = Math.max(end, match.end);
    open ||= match.open;
  }
  return { end, open };
}

/** A character may have several spellings that fit, so each is followed. */
function matchAt(pattern: Pattern, bytes: Uint8Array, start: number): Match {
  let places: readonly number[] = [start];
  let open = false;
  for (const spellings of pattern) {
    const next: number[] = [];
    for (const place of places) {
      for (const spelling of spellings) {
        const fitting = fit(spelling, bytes, place);
        if (fitting < spelling.lower.length) open ||= place + fitting === bytes.length;
        else if (!next.includes(place + fitting)) next.push(place + fitting);
      }
    }
    if (next.length === 0) return { end: -1, open };
    places = next;
  }
  return { end: Math.max(...places), open };
}

/** How many bytes fit. */
function fit({ lower, upper }: Spelling, bytes: Uint8Array, place: number): number {
  for (let index = 0; index < lower.length; index += 1) {
    const byte = bytes[place + index];
    if (byte === undefined || (byte !== lower[index] && byte !== upper[index])) return index;
  }
  return lower.length;
}

const MARKER = Buffer.from(REDACTED);
const NOTHING = new Uint8Array(0);
