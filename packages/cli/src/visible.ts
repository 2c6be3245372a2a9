import { UNSEEN_CHARACTERS } from '@dragoman/protocols';
import type { Terminal } from './terminal.ts';

/**
 * Untrusted text for people. Invisible characters and terminal control characters are shown as `\u{202e}`, because they
 * could move the cursor, repaint earlier lines, or make a name look like another. Line ends and tabs stay.
 */
export function visible(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(UNSEEN_CHARACTERS, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/**
 * The last step of all output. Escapes characters that a command did not make visible, in JSON's notation, so that the
 * output of `--json` stays the same JSON. Our own colours and line ends are kept.
 */
export function visibleTerminal(terminal: Terminal): Terminal {
  return {
    ...terminal,
    out: (text) => terminal.out(escaped(text)),
    note: (text) => terminal.note(escaped(text)),
  };
}

function escaped(text: string): string {
  return text.replaceAll(UNSEEN_CHARACTERS, (found, at: number) => {
    if (found === '\r' || (found === '\u001b' && COLOUR.test(text.slice(at, at + LONGEST_COLOUR)))) return found;
    // Escaped by UTF-16 units, as in JSON.
    return found
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join('');
  });
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what a colour begins with
const COLOUR = /^\u001b\[\d{1,2}m/;
const LONGEST_COLOUR = 5;
