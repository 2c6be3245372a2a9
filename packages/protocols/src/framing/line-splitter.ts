import { accept, type Issue, type Outcome, reject } from '../outcome.ts';
import { GrowingBytes } from './growing-bytes.ts';

export interface LineLimits {
  /** Bytes in one line, without its line break. Default: 8 MiB. */
  readonly maxLineBytes?: number;
}

/**
 * Splits bytes into lines. The result does not depend on where the stream was cut.
 *
 * A line ends with LF or CRLF; blank lines are skipped. A line past the limit is one fault, reported as soon as the
 * limit is exceeded; its bytes are dropped up to its line break, and the next line is read normally.
 *
 *        ┌──── LF: the line
 *        ▼   │
 *       reading ──── past the limit: one fault ───▶ skipping
 *        ▲                                             │
 *        └───────────────────── LF ────────────────────┘
 */
export class LineSplitter {
  readonly #limit: number;
  readonly #partial: GrowingBytes;
  #skipping = false;
  #sinceNewline = 0;
  #blankLines = 0;
  #longLineStart: Uint8Array = NOTHING;
  #longLineEnd: Uint8Array = NOTHING;

  constructor(limits: LineLimits = {}) {
    this.#limit = limits.maxLineBytes ?? MAX_LINE_BYTES;
    // One more than the limit, for a CR before the LF.
    this.#partial = new GrowingBytes(this.#limit + 1);
  }

  /** Bytes since the last line break, including skipped ones. An edge disconnects if there are too many. */
  get bytesSinceNewline(): number {
    return this.#sinceNewline;
  }

  /** The number of skipped blank lines, for edges that count lines. */
  get blankLines(): number {
    return this.#blankLines;
  }

  /** The beginning of the last line that was too long, to identify its message. */
  get longLineStart(): Uint8Array {
    return this.#longLineStart;
  }

  /** The end of that line as far as it was read; some protocols put the id there. */
  get longLineEnd(): Uint8Array {
    return this.#longLineEnd;
  }

  /** Whether the last line that was too long is still being skipped. */
  get isSkipping(): boolean {
    return this.#skipping;
  }

  /** Bytes of memory used by an incomplete line. */
  get bytesHeld(): number {
    return this.#partial.capacity;
  }

  /**
   * The lines and faults that this chunk completes, in order. A line that lies within the chunk is a view
   * of it, not a copy: read it before the chunk's memory is used again.
   */
  push(chunk: Uint8Array): readonly Outcome<Uint8Array>[] {
    const lines: Outcome<Uint8Array>[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      this.#finish(chunk.subarray(start, end), lines);
      start = end + 1;
    }
    if (start < chunk.length) this.#begin(chunk.subarray(start), lines);
    return lines;
  }

  /** Call this when the stream has ended. A last line without a line break may be incomplete, so it is a fault. */
  end(): readonly Outcome<Uint8Array>[] {
    const rest = this.#partial.take();
    this.#skipping = false;
    this.#sinceNewline = 0;
    return isBlank(rest) ? [] : [reject(partialLine(rest.length))];
  }

  /** Adds the last part of a line, up to its LF. */
  #finish(part: Uint8Array, lines: Outcome<Uint8Array>[]): void {
    this.#sinceNewline = 0;
    if (this.#skipping) {
      this.#skipping = false;
      this.#keepEnd(part);
    } else if (!this.#fits(part)) {
      lines.push(this.#tooLong(part));
    } else {
      const line = withoutCr(this.#whole(part));
      if (isBlank(line)) this.#blankLines += 1;
      else lines.push(accept(line));
    }
  }

  /** Adds a part of a line whose LF has not arrived yet. */
  #begin(part: Uint8Array, lines: Outcome<Uint8Array>[]): void {
    this.#sinceNewline += part.length;
    if (this.#skipping) {
      this.#keepEnd(part);
    } else if (this.#fits(part)) {
      this.#partial.append(part);
    } else {
      this.#skipping = true;
      lines.push(this.#tooLong(part));
    }
  }

  #tooLong(part: Uint8Array): Outcome<Uint8Array> {
    const partial = this.#partial.take();
    const start = partial.subarray(0, START_BYTES);
    this.#longLineStart = Uint8Array.of(...start, ...part.subarray(0, START_BYTES - start.length));
    this.#longLineEnd = partial;
    this.#keepEnd(part);
    return reject(lineTooLong(this.#limit));
  }

  /** Keeps a copy, because the chunk's memory may be used again before the line has ended. */
  #keepEnd(part: Uint8Array): void {
    const last = part.subarray(-END_BYTES);
    // `subarray(-0)` would return all of the bytes.
    const before = this.#longLineEnd.subarray(Math.max(0, this.#longLineEnd.length + last.length - END_BYTES));
    this.#longLineEnd = Uint8Array.of(...before, ...last);
  }

  #whole(part: Uint8Array): Uint8Array {
    if (this.#partial.length === 0) return part;
    this.#partial.append(part);
    return this.#partial.take();
  }

  /** Whether the line is within the limit with this part added. A CR at the very end may belong to the line break. */
  #fits(part: Uint8Array): boolean {
    const length = this.#partial.length + part.length;
    return length <= this.#limit || part.length === 0 || (length === this.#limit + 1 && part.at(-1) === CR);
  }
}

function withoutCr(line: Uint8Array): Uint8Array {
  return line[line.length - 1] === CR ? line.subarray(0, -1) : line;
}

/** Whether a line has only JSON white space, so that it is not a message. */
function isBlank(line: Uint8Array): boolean {
  for (let at = 0; at < line.length; at += 1) {
    const byte = line[at];
    if (byte !== SPACE && byte !== TAB && byte !== CR) return false;
  }
  return true;
}

function lineTooLong(limit: number): Issue {
  return {
    pointer: '',
    code: 'line_too_long',
    message: `expected at most ${limit} bytes in a line; received more without a line break`,
    suggestion: 'send a shorter message, and end each with one line break',
  };
}

function partialLine(length: number): Issue {
  return {
    pointer: '',
    code: 'partial_line',
    message: `expected a line break after the last line; the stream ended after ${length} bytes of it`,
    suggestion: 'end every message with a line break, including the last one',
  };
}

const NOTHING = new Uint8Array(0);
const START_BYTES = 1024;
const END_BYTES = 256;
const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const MAX_LINE_BYTES = 8 * 1024 * 1024;
