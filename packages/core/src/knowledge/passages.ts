import { spelledOut } from '../search/spelled-out.ts';
import type { Thing } from './thing.ts';

/** The pieces of a thing that are compared by meaning: its name with its text, and each sentence. */
export interface Passages {
  readonly whole: string;
  readonly sentences: readonly string[];
}

/** A vector represents about one sentence; of a long text only the first passages are indexed. */
export function passagesOf({ name, text, context }: Thing): Passages {
  const sentences = text
    .split(/(?<=[.!?])\s+|\n+/)
    .flatMap(cut)
    .filter((sentence) => /\p{L}/u.test(sentence))
    .slice(0, MOST);
  const title = spelledOut(name).trim();
  const whole = `${title}. ${text === '' ? (context ?? '') : text}`.slice(0, LONGEST * 4).trim();
  return { whole, sentences: sentences.length > 0 ? sentences : [whole] };
}

function cut(sentence: string): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < sentence.length; at += LONGEST) pieces.push(sentence.slice(at, at + LONGEST).trim());
  return pieces;
}

/** The most sentences of one thing. */
const MOST = 32;
/** The most characters of one sentence. A longer one is cut into several. */
const LONGEST = 400;
