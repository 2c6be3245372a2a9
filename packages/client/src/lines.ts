import { DragomanError } from './dragoman-error.ts';

/**
 * Splits a stream of bytes into lines, including blank ones, which the server sends as heartbeats. A last line without
 * a line break is never returned, because it may be incomplete.
 */
export class Lines {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  /** The pieces of the line that is not complete yet. */
  #partial: Uint8Array[] = [];
  #partialBytes = 0;

  push(chunk: Uint8Array): string[] {
    // Fast path: nearly every chunk ends with a line break.
    const end = chunk[chunk.length - 1] === LF ? chunk.length : chunk.lastIndexOf(LF) + 1;
    if (end === 0) {
      this.#begin(chunk);
      return [];
    }
    const lines = linesIn(this.#decode(this.#whole(end === chunk.length ? chunk : chunk.subarray(0, end))));
    if (this.#partialBytes > 0) {
      this.#partial = [];
      this.#partialBytes = 0;
    }
    if (end < chunk.length) this.#begin(chunk.subarray(end));
    return lines;
  }

  #begin(part: Uint8Array): void {
    this.#partialBytes += part.length;
    if (this.#partialBytes > MAX_LINE) throw unreadable(`a line of more than ${MAX_LINE} bytes`);
    // The bytes are copied, because the caller may reuse the memory of the chunk.
    this.#partial.push(new Uint8Array(part));
  }

  #whole(part: Uint8Array): Uint8Array {
    if (this.#partialBytes === 0) return part;
    const whole = new Uint8Array(this.#partialBytes + part.length);
    let at = 0;
    for (const piece of [...this.#partial, part]) {
      whole.set(piece, at);
      at += piece.length;
    }
    return whole;
  }

  #decode(bytes: Uint8Array): string {
    try {
      return this.#decoder.decode(bytes);
    } catch {
      throw unreadable('bytes that are not UTF-8');
    }
  }
}

/** The lines of a text that ends with a line break. */
function linesIn(text: string): string[] {
  const lines: string[] = [];
  let start = 0;
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
    lines.push(text.slice(start, end));
    start = end + 1;
  }
  return lines;
}

function unreadable(what: string): DragomanError {
  return new DragomanError({ code: 'bad_frame', message: `The server sent ${what}.` });
}

const LF = 0x0a;
const MAX_LINE = 64 * 1024 * 1024;
