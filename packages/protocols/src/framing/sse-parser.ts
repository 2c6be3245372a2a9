import { explainBytes } from '../json-explain.ts';
import { accept, type Issue, type Outcome, reject } from '../outcome.ts';
import { decodeUtf8 } from '../platform.ts';
import { GrowingBytes } from './growing-bytes.ts';

/** One event as it was dispatched. */
export interface SseMessage {
  /** The event's name. Default: `message`. */
  readonly event: string;
  /** Its data lines, joined by line breaks. */
  readonly data: string;
  /** The last id of the stream, from this event or an earlier one; `''` without one. */
  readonly lastEventId: string;
}

export interface SseLimits {
  /** Bytes in the lines of one event. Default: 8 MiB. */
  readonly maxEventBytes?: number;
}

/**
 * Parses a `text/event-stream` by WHATWG HTML ("Interpreting an event stream"), wherever the stream was cut. It is
 * stricter in two ways: an event that is not UTF-8, or that exceeds the limit, is one fault, where the standard
 * replaces characters and has no limit. Later events are read normally. An event that the end of the stream cuts off is
 * dropped, as the standard requires: resume after `lastEventId`.
 */
export class SseParser {
  readonly #limit: number;
  /** The beginning of a line that is not complete yet. */
  readonly #partial: GrowingBytes;
  #lineIsEmpty = true;
  #isFirstLine = true;
  /** The last byte was a CR: an LF right after it belongs to the same line break. */
  #afterCr = false;
  /** The current event has failed: its lines are skipped up to the blank line that ends it. */
  #skipping = false;
  #eventBytes = 0;
  #event = '';
  #data: string[] = [];
  #id = '';
  #lastEventId = '';
  #retry: number | undefined;

  constructor(limits: SseLimits = {}) {
    this.#limit = limits.maxEventBytes ?? MAX_EVENT_BYTES;
    this.#partial = new GrowingBytes(this.#limit);
  }

  /** The value to send as `Last-Event-ID` after a break: the id of the last complete event. */
  get lastEventId(): string {
    return this.#lastEventId;
  }

  /** Milliseconds to wait before connecting again, if the server has sent it. */
  get retry(): number | undefined {
    return this.#retry;
  }

  /** Bytes of memory used by an incomplete line. */
  get bytesHeld(): number {
    return this.#partial.capacity;
  }

  /** The events and faults that this chunk completes, in order. */
  push(chunk: Uint8Array): readonly Outcome<SseMessage>[] {
    const messages: Outcome<SseMessage>[] = [];
    let start = 0;
    for (let end = lineBreak(chunk, start); end !== -1; end = lineBreak(chunk, start)) {
      const secondHalf = this.#afterCr && end === start && chunk[end] === LF;
      if (!secondHalf) this.#endLine(chunk.subarray(start, end), messages);
      this.#afterCr = chunk[end] === CR;
      start = end + 1;
    }
    if (start < chunk.length) this.#beginLine(chunk.subarray(start), messages);
    return messages;
  }

  /** Adds a part of a line whose line break has not arrived yet. */
  #beginLine(part: Uint8Array, messages: Outcome<SseMessage>[]): void {
    this.#afterCr = false;
    this.#lineIsEmpty = false;
    if (this.#skipping) return;
    if (this.#fits(part)) this.#partial.append(part);
    else this.#fail(eventTooLarge(this.#limit), messages);
  }

  /** Adds the last part of a line, up to its line break. */
  #endLine(part: Uint8Array, messages: Outcome<SseMessage>[]): void {
    const isBlank = this.#lineIsEmpty && part.length === 0;
    const isFirst = this.#isFirstLine;
    this.#lineIsEmpty = true;
    this.#isFirstLine = false;
    if (this.#skipping) {
      if (isBlank) this.#startEvent();
    } else if (this.#fits(part)) {
      const line = this.#whole(part);
      this.#readLine(isFirst ? withoutBom(line) : line, messages);
    } else {
      this.#fail(eventTooLarge(this.#limit), messages);
    }
  }

  #fits(part: Uint8Array): boolean {
    return this.#eventBytes + this.#partial.length + part.length <= this.#limit;
  }

  #whole(part: Uint8Array): Uint8Array {
    if (this.#partial.length === 0) return part;
    this.#partial.append(part);
    return this.#partial.take();
  }

  #readLine(line: Uint8Array, messages: Outcome<SseMessage>[]): void {
    if (line.length === 0) {
      this.#dispatch(messages);
    } else if (line[0] !== COLON) {
      this.#eventBytes += line.length;
      const text = decodeUtf8(line) ?? explainBytes(line);
      if (typeof text === 'string') this.#readField(text);
      else if (text !== undefined) this.#fail(text, messages);
    }
    // Otherwise a comment, which does not count toward the limit: a stream may send heartbeats for days.
  }

  #readField(line: string): void {
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'data') this.#data.push(value);
    else if (field === 'event') this.#event = value;
    else if (field === 'id' && !value.includes('\0')) this.#id = value;
    else if (field === 'retry' && /^[0-9]{1,15}$/.test(value)) this.#retry = Number(value);
  }

  #dispatch(messages: Outcome<SseMessage>[]): void {
    // An event without data is not reported, but its id counts.
    this.#lastEventId = this.#id;
    if (this.#data.length > 0) {
      const event = this.#event === '' ? 'message' : this.#event;
      messages.push(accept({ event, data: this.#data.join('\n'), lastEventId: this.#lastEventId }));
    }
    this.#startEvent();
  }

  #fail(issue: Issue, messages: Outcome<SseMessage>[]): void {
    messages.push(reject(issue));
    this.#partial.clear();
    this.#startEvent();
    // An incomplete event does not change the id to resume from.
    this.#id = this.#lastEventId;
    this.#skipping = true;
  }

  #startEvent(): void {
    this.#skipping = false;
    this.#eventBytes = 0;
    this.#event = '';
    this.#data = [];
  }
}

/** The index of the first CR or LF from `start` on, or -1. */
function lineBreak(chunk: Uint8Array, start: number): number {
  for (let at = start; at < chunk.length; at++) if (chunk[at] === LF || chunk[at] === CR) return at;
  return -1;
}

function withoutBom(line: Uint8Array): Uint8Array {
  return line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf ? line.subarray(3) : line;
}

function eventTooLarge(limit: number): Issue {
  return {
    pointer: '',
    code: 'event_too_large',
    message: `expected at most ${limit} bytes in an event; received more without a blank line`,
    suggestion: 'send smaller events, and end each with a blank line',
  };
}

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const MAX_EVENT_BYTES = 8 * 1024 * 1024;
