import { type Json, parseJsonBytes } from '../json.ts';
import type { JsonLimits } from '../json-explain.ts';
import type { Outcome } from '../outcome.ts';
import { type LineLimits, LineSplitter } from './line-splitter.ts';
import { oneLineJson } from './one-line-json.ts';

/** Reads bytes and returns one outcome per line: a value, or the problem. An invalid line does not affect the next. */
export class NdjsonReader {
  readonly #splitter: LineSplitter;
  readonly #limits: JsonLimits;

  constructor(limits: LineLimits & JsonLimits = {}) {
    this.#splitter = new LineSplitter(limits);
    this.#limits = limits;
  }

  /** Bytes since the last line break. An edge disconnects if there are too many. */
  get bytesSinceNewline(): number {
    return this.#splitter.bytesSinceNewline;
  }

  push(chunk: Uint8Array): readonly Outcome<Json>[] {
    return this.#splitter.push(chunk).map((line) => this.#read(line));
  }

  /** Call this when the stream has ended. A last line without a line break is a fault. */
  end(): readonly Outcome<Json>[] {
    return this.#splitter.end().map((line) => this.#read(line));
  }

  #read(line: Outcome<Uint8Array>): Outcome<Json> {
    return line.ok ? parseJsonBytes(line.value, this.#limits) : line;
  }
}

/** One message as a line of NDJSON: A2E wire, Framing and Encoding Rules. */
export function ndjsonLine(value: Json): string {
  return `${oneLineJson(value)}\n`;
}
