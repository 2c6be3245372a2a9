import { STATUS_CODES, validateHeaderValue } from 'node:http';
import type { Socket } from 'node:net';
import { encodingOf, LONG, type Outlet, type OverListener } from './outlet.ts';

export interface PlainOutletParts {
  readonly socket: Socket;
  /** The moment, as HTTP writes it. */
  readonly date: () => string;
  /** Seconds for which the connection is kept, as the peer is told. */
  readonly keepAliveSeconds: number;
  /** Milliseconds the peer may leave unread what was written. */
  readonly stallMs: number;
  /** Milliseconds the connection may be idle. */
  readonly idleMs: number;
  readonly onOver: () => void;
}

/** The answer to a plain request, written as Node would. */
export class PlainOutlet implements Outlet {
  isLast = false;
  status: number | undefined;
  readonly #parts: PlainOutletParts;
  readonly #listeners: OverListener[] = [];
  #isChunked = false;
  #isOver = false;

  constructor(parts: PlainOutletParts) {
    this.#parts = parts;
  }

  get isGone(): boolean {
    return this.#isOver || this.#parts.socket.destroyed;
  }

  inform(status: 100 | 102): void {
    this.#parts.socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n\r\n`, 'latin1');
  }

  writeWhole(status: number, fields: readonly string[], text: string, length: number): void {
    const { socket } = this.#parts;
    const head = `${this.#head(status, fields)}\r\n`;
    const encoding = encodingOf(text, length);
    if (length > LONG) {
      socket.cork();
      socket.write(head, 'latin1');
      socket.write(text, encoding);
      socket.uncork();
    } else socket.write(head + text, encoding);
    this.#finish();
  }

  begin(status: number, fields: readonly string[]): void {
    const { socket, stallMs } = this.#parts;
    // From now on it is the peer that is waited for: a stream may be silent, and read slowly.
    socket.setTimeout(stallMs);
    let head = this.#head(status, fields);
    this.#isChunked = !fields.includes('Content-Length');
    if (this.#isChunked) head += 'Transfer-Encoding: chunked\r\n';
    socket.write(`${head}\r\n`, 'latin1');
  }

  write(chunk: string | Uint8Array): boolean {
    const { socket } = this.#parts;
    if (this.isGone) return true;
    return this.#isChunked ? writeChunk(socket, chunk) : socket.write(chunk);
  }

  whenDrained(callback: () => void): void {
    this.#parts.socket.once('drain', callback);
  }

  end(): void {
    const { socket, idleMs } = this.#parts;
    if (this.isGone) return;
    if (this.#isChunked) socket.write('0\r\n\r\n', 'latin1');
    socket.setTimeout(idleMs);
    this.#finish();
  }

  breakOff(): void {
    const { socket, stallMs } = this.#parts;
    socket.setTimeout(stallMs);
    socket.destroySoon();
  }

  destroy(): void {
    this.#parts.socket.destroy();
  }

  whenOver(callback: OverListener): () => void {
    this.#listeners.push(callback);
    return () => {
      const at = this.#listeners.indexOf(callback);
      if (at !== -1) this.#listeners.splice(at, 1);
    };
  }

  /** The connection is gone, or the answer has been taken. */
  over(isDelivered: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const listener of this.#listeners) listener(isDelivered);
    this.#parts.onOver();
  }

  /** As a rule the system takes an answer at once. */
  #finish(): void {
    const { socket, stallMs, idleMs } = this.#parts;
    if (socket.writableLength === 0) {
      this.#taken();
      return;
    }
    socket.setTimeout(stallMs);
    // Called back when everything before it is written too.
    socket.write('', (error) => {
      if (error) return;
      socket.setTimeout(idleMs);
      this.#taken();
    });
  }

  #taken(): void {
    const { socket } = this.#parts;
    const isDelivered = !socket.destroyed;
    if (this.isLast) socket.destroySoon();
    this.over(isDelivered);
  }

  /** Without the line that ends it. A value that would end its line, and begin another, throws. */
  #head(status: number, fields: readonly string[]): string {
    const { date, keepAliveSeconds } = this.#parts;
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`;
    let isSaid = false;
    for (let at = 0; at < fields.length; at += 2) {
      const name = fields[at] ?? '';
      const value = fields[at + 1] ?? '';
      if (!PRINTABLE.test(value)) validateHeaderValue(name, value);
      if (name === 'Connection') isSaid = true;
      head += `${name}: ${value}\r\n`;
    }
    this.status = status;
    head += `Date: ${date()}\r\n`;
    if (isSaid) {
      this.isLast = true;
      return head;
    }
    return this.isLast
      ? `${head}Connection: close\r\n`
      : `${head}Connection: keep-alive\r\nKeep-Alive: timeout=${keepAliveSeconds}\r\n`;
  }
}

/** RFC 9112 §7.1. */
function writeChunk(socket: Socket, chunk: string | Uint8Array): boolean {
  if (typeof chunk === 'string') {
    const length = Buffer.byteLength(chunk);
    return socket.write(`${length.toString(16)}\r\n${chunk}\r\n`, encodingOf(chunk, length));
  }
  socket.cork();
  socket.write(`${chunk.length.toString(16)}\r\n`, 'latin1');
  socket.write(chunk);
  const hasRoom = socket.write('\r\n', 'latin1');
  socket.uncork();
  return hasRoom;
}

const PRINTABLE = /^[ -~]*$/;
