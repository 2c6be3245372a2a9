import { spelledOut } from '../search/spelled-out.ts';
import type { Thing } from './thing.ts';

/** The pieces of a thing that are compared by meaning: all of it in one, and each sentence by itself. */
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

/** Sentences of one thing that are compared. */
const MOST = 32;
/** Characters of one sentence. */
const LONGEST = 400;
