import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository, with a slash at its end. */
export const ROOT: string = fileURLToPath(new URL('../..', import.meta.url));

/**
 * A fenced block of a page. The words after its language, which GitHub ignores, say what to do with it:
 *
 *     ```sh run            run it; it must succeed
 *     ```sh run exit=1     run it; it must end with 1
 *     ```sh run needs=x    the page ends here on a machine without the program x
 *     ```sh serve          start it, and continue when it is ready; it runs until the page ends, or `<!-- stop -->`
 *     ```text output       what the block before it prints; … stands for anything
 *     ```json output       the same as JSON, whatever its spaces; "…": "…" stands for further members
 *     ```text awaited      the later output of the program that was started last
 *     ```js file=a.mjs     a file of this name
 *     ```diff patch         a change to files that are there
 *     ```sh shown          not run, and the page says why
 */
export interface Block {
  readonly language: string;
  readonly does: string | undefined;
  /** What is behind `=`: `exit`, `needs` or `file`. */
  readonly settings: Readonly<Record<string, string>>;
  readonly text: string;
  /** The prose between the previous block and this one. */
  readonly prose: string;
  readonly line: number;
}

/** Ends the program that was started last, like Ctrl-C in its terminal. The mark is invisible: the prose says it. */
export type Part = Block | { readonly does: 'stop'; readonly line: number };

export function readPage(path: string): Part[] {
  const text = readFileSync(join(ROOT, path), 'utf8');
  let end = 0;
  return [...text.matchAll(PART)].map((found): Part => {
    const prose = text.slice(end, found.index);
    end = found.index + found[0].length;
    const line = text.slice(0, found.index).split('\n').length;
    const { indent = '', info = '', body = '' } = found.groups ?? {};
    if (found[0].startsWith('<')) return { does: 'stop', line };
    const [language = '', ...words] = info.trim().split(/\s+/);
    const settings = words.filter((word) => word.includes('=')).map((word) => word.split('=') as [string, string]);
    const verb = words.find((word) => !word.includes('='));
    return {
      language,
      does: verb ?? settings[0]?.[0],
      settings: Object.fromEntries(settings),
      text: outdented(body, indent),
      prose,
      line,
    };
  });
}

export function isBlock(part: Part): part is Block {
  return 'language' in part;
}

/** A block in a list is indented with it. */
function outdented(text: string, indent: string): string {
  return text
    .split('\n')
    .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
    .join('\n');
}

const PART = /^(?<indent> *)```(?<info>[^\n]*)\n(?<body>[\s\S]*?)^ *```$|^<!-- stop -->$/gm;
