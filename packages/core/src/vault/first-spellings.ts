import type { Pattern, Spelling } from './encodings.ts';

/**
 * Which patterns begin at a place, for the price of reading the spelling that stands there: most bytes begin none, and how
 * many secrets there are must not matter to those that do. A body of nothing but percent signs or backslashes, with which
 * some spelling of every character begins, would be compared with all of them at every byte.
 */
export class FirstSpellings {
  readonly #root: Node = { next: new Map(), ends: [] };
  readonly #byFirst: readonly (Node | undefined)[];

  constructor(patterns: readonly Pattern[]) {
    for (const pattern of patterns) {
      const [first = [], second] = pattern;
      const beginning = { pattern, follows: second && bytesThatBegin(second) };
      for (const spelling of first) this.#add(this.#root, spelling, 0, beginning);
    }
    this.#byFirst = Array.from({ length: 256 }, (_, byte) => this.#root.next.get(byte));
  }

  /** What may begin at a place. */
  at(bytes: Uint8Array, place: number): Begun {
    let node = this.#byFirst[bytes[place] ?? 0];
    if (node === undefined) return NONE;
    let patterns: Pattern[] | undefined;
    let open = false;
    for (let end = place + 1; node !== undefined; end += 1) {
      const byte = bytes[end];
      for (const { pattern, follows } of node.ends) {
        if (follows === undefined || (byte !== undefined && follows[byte] === 1)) {
          patterns ??= [];
          if (!patterns.includes(pattern)) patterns.push(pattern);
        } else open ||= byte === undefined;
      }
      if (byte === undefined) {
        open ||= node.next.size > 0;
        break;
      }
      node = node.next.get(byte);
    }
    return patterns === undefined && !open ? NONE : { patterns: patterns ?? NO_PATTERNS, open };
  }

  #add(node: Node, spelling: Spelling, index: number, beginning: Beginning): void {
    const lower = spelling.lower[index];
    const upper = spelling.upper[index];
    if (lower === undefined || upper === undefined) {
      node.ends.push(beginning);
      return;
    }
    for (const byte of lower === upper ? [lower] : [lower, upper]) {
      let next = node.next.get(byte);
      if (next === undefined) {
        next = { next: new Map(), ends: [] };
        node.next.set(byte, next);
      }
      this.#add(next, spelling, index + 1, beginning);
    }
  }
}

export interface Begun {
  /** Their first character stands there, and behind it what their second can begin with. */
  readonly patterns: readonly Pattern[];
  /** The bytes ran out before it could be told of others. */
  readonly open: boolean;
}

interface Node {
  readonly next: Map<number, Node>;
  /** The patterns whose first character has been read here. */
  readonly ends: Beginning[];
}

interface Beginning {
  readonly pattern: Pattern;
  /** By byte, whether its second character can begin with it; undefined where it has none. */
  readonly follows: Uint8Array | undefined;
}

function bytesThatBegin(spellings: readonly Spelling[]): Uint8Array {
  const begins = new Uint8Array(256);
  for (const { lower, upper } of spellings) for (const byte of [lower[0], upper[0]]) begins[byte ?? 0] = 1;
  return begins;
}

const NO_PATTERNS: readonly Pattern[] = [];
const NONE = { patterns: NO_PATTERNS, open: false };
