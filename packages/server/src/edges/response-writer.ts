import { type ServerResponse, STATUS_CODES } from 'node:http';

/** Writes the answer to one request. Header fields are passed as name, value, name, value. */
export class ResponseWriter {
  readonly #response: ServerResponse;
  readonly #stallMs: number;
  #isDelivered = false;

  /** `stallMs`: how long the peer may leave written bytes unread. */
  constructor(response: ServerResponse, stallMs: number) {
    this.#response = response;
    this.#stallMs = stallMs;
    // Node emits `finish` even if the socket was destroyed, and destroys the socket itself after the last answer.
    response.prependListener('finish', () => {
      this.#isDelivered = response.req.socket.destroyed === false;
    });
  }

  /** Whether the connection ends after this answer. */
  get isLast(): boolean {
    return !this.#response.shouldKeepAlive;
  }

  set isLast(isLast: boolean) {
    this.#response.shouldKeepAlive = !isLast;
  }

  /** The status of the answer, once its head is written. */
  get status(): number | undefined {
    return this.#response.headersSent ? this.#response.statusCode : undefined;
  }

  /** Whether the peer is gone. Node also sets `destroyed` if the peer left before the answer began. */
  get isGone(): boolean {
    return this.#response.destroyed;
  }

  /** Sends an informational answer: 100, the body is awaited; 102, the answer will follow. */
  inform(status: 100 | 102): void {
    if (status === 100) this.#response.writeContinue();
    else this.#response.writeProcessing();
  }

  /** Writes a complete answer of `length` bytes. Throws before the first byte when it cannot be written. */
  writeWhole(status: number, fields: readonly string[], text: string, length: number): void {
    const response = this.#response;
    const { socket } = response;
    this.#writeHead(status, fields);
    // Node would prepend the head to the text, which copies a long one. Corked, head and text are still one write.
    if (length > LONG) {
      response.cork();
      response.flushHeaders();
    }
    // Written as UTF-8, ASCII text would be copied into a buffer of three times its length.
    response.end(text, length === text.length ? 'latin1' : 'utf8');
    if (socket !== null && socket.writableLength > 0) socket.setTimeout(this.#stallMs);
  }

  /** Writes the head of a streamed answer at once. Throws like `writeWhole`. */
  begin(status: number, fields: readonly string[]): void {
    this.#writeHead(status, fields);
    this.#response.flushHeaders();
  }

  /**
   * Writes a non-empty chunk. If it returns `false`, the caller must wait for `whenDrained`, and the peer has `stallMs`
   * to read.
   */
  write(chunk: string | Uint8Array): boolean {
    if (this.#response.write(chunk)) return true;
    this.#response.socket?.setTimeout(this.#stallMs);
    return false;
  }

  /** Calls back once, when the socket accepts more. */
  whenDrained(callback: () => void): void {
    const { socket } = this.#response;
    this.#response.once('drain', () => {
      socket?.setTimeout(0);
      callback();
    });
  }

  end(): void {
    const { socket } = this.#response;
    this.#response.end();
    if (socket !== null && socket.writableLength > 0) socket.setTimeout(this.#stallMs);
  }

  /**
   * Ends the connection after the bytes written so far, but without the end of the answer, so that the answer cannot
   * look complete.
   */
  breakOff(): void {
    const { socket } = this.#response;
    socket?.setTimeout(this.#stallMs);
    // Node hands the last write to the socket in the next tick; as of Node 26 that is too late for a socket that ends.
    setImmediate(() => socket?.destroySoon());
  }

  destroy(): void {
    this.#response.destroy();
  }

  /** Calls back once, when the answer was delivered or the connection is gone. Returns a function that unsubscribes. */
  whenOver(callback: (isDelivered: boolean) => void): () => void {
    const listener = () => callback(this.#isDelivered);
    this.#response.once('close', listener);
    return () => this.#response.off('close', listener);
  }

  /** Passes the reason phrase explicitly, because Node would keep the phrase of a head that could not be written. */
  #writeHead(status: number, fields: readonly string[]): void {
    this.#response.writeHead(status, STATUS_CODES[status] ?? '', fields as string[]);
  }
}

/** From this length on, a second write is used instead of copying the text. */
export const LONG = 4096;
