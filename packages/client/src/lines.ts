import { DragomanError } from './dragoman-error.ts';

/**
 * The lines of a stream of bytes, blank ones too: the server sends them as signs of life. A last line without its line
 * break may be half of one, so it is never given.
 */
export class Lines {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #begun = '';

  push(chunk: Uint8Array): string[] {
    const [first = '', ...rest] = this.#decode(chunk).split('\n');
    this.#begun += first;
    if (this.#begun.length > MAX_LINE) throw unreadable(`a line of more than ${MAX_LINE} characters`);
    if (rest.length === 0) return [];
    const lines = [this.#begun, ...rest];
    this.#begun = lines.pop() ?? '';
    return lines;
  }

  #decode(chunk: Uint8Array): string {
    try {
      return this.#decoder.decode(chunk, { stream: true });
    } catch {
      throw unreadable('bytes that are not UTF-8');
    }
  }
}

function unreadable(what: string): DragomanError {
  return new DragomanError({ code: 'bad_frame', message: `The server sent ${what}.` });
}

const MAX_LINE = 64 * 1024 * 1024;
