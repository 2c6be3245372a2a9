import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';

/**
 * Compiles a caller's pattern for an engine whose time is linear in the text, so that no pattern can hang the server.
 * The engine expands repetitions, such as `(…){1000}` a thousand times, so patterns that would become too large are
 * refused.
 */
export function linearPattern(pattern: string): RE2JS {
  if (pattern.length > MOST_PARTS)
    throw new Error(`it has ${pattern.length} characters; at most ${MOST_PARTS} are allowed`);
  const parts = writtenOut(pattern);
  if (parts > MOST_PARTS)
    throw new Error(`with its repetitions expanded it has ${parts} parts; at most ${MOST_PARTS} are allowed`);
  const classes = pattern.match(/\\p/gi)?.length ?? 0;
  if (classes > MOST_CLASSES) throw new Error(`it has ${classes} Unicode classes; at most ${MOST_CLASSES} are allowed`);
  return library().RE2JS.compile(pattern);
}

/**
 * How many parts a pattern has after its counted repetitions are expanded; an estimate that is too high rather than too
 * low.
 */
export function writtenOut(pattern: string): number {
  // The last part of a group is counted apart, because a repetition repeats only that.
  const open: Group[] = [{ before: 0, last: 0 }];
  for (const [token, most] of pattern.matchAll(TOKEN)) {
    const group = open.at(-1) as Group;
    if (most !== undefined) group.last *= Math.max(1, Number(most));
    else if (token === '(') open.push({ before: 0, last: 0 });
    else if (token !== ')') add(group, token.startsWith('\\Q') ? token.length : 1);
    else if (open.length > 1) {
      open.pop();
      add(open.at(-1) as Group, group.before + group.last);
    }
  }
  return open.reduce((total, { before, last }) => total + before + last, 0);
}

interface Group {
  before: number;
  last: number;
}

function add(group: Group, parts: number): void {
  group.before += group.last;
  group.last = parts;
}

/** Loaded with the first pattern, because the library is large and few workflows have a pattern. */
function library(): typeof import('re2js') {
  return load('re2js');
}

const load = createRequire(import.meta.url);
/**
 * A quoted text, a character by name or escaped, a class, a count (its greatest number is captured), or any other
 * character.
 */
const TOKEN = /\\Q.*?(?:\\E|$)|\\[pPx]\{[^}]*\}|\\.|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|\{(?:\d+,)?(\d+),?\}|./gsu;
/** Some milliseconds' work, and a megabyte that is kept with the plan of a workflow. */
const MOST_PARTS = 4000;
/** Each is hundreds of ranges. */
const MOST_CLASSES = 40;
