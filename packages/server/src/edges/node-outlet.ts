import { type ServerResponse, STATUS_CODES } from 'node:http';
import { encodingOf, LONG, type Outlet, type OverListener } from './outlet.ts';

/** An answer that Node writes. */
export class NodeOutlet implements Outlet {
  readonly #response: ServerResponse;
  readonly #stallMs: number;
  #isDelivered = false;

  /** `stallMs`: how long the peer may leave unread what was written. */
  constructor(response: ServerResponse, stallMs: number) {
    this.#response = response;
    this.#stallMs = stallMs;
    // Node calls an answer finished also when its socket is destroyed; and destroys the socket itself after the last one.
    response.prependListener('finish', () => {
      this.#isDelivered = response.req.socket.destroyed === false;
    });
  }

  get isLast(): boolean {
    return !this.#response.shouldKeepAlive;
  }

  set isLast(isLast: boolean) {
    this.#response.shouldKeepAlive = !isLast;
  }

  get status(): number | undefined {
    return this.#response.headersSent ? this.#response.statusCode : undefined;
  }

  /** `destroyed` is also how Node marks a response whose peer went before we began. */
  get isGone(): boolean {
    return this.#response.destroyed;
  }

  inform(status: 100 | 102): void {
    if (status === 100) this.#response.writeContinue();
    else this.#response.writeProcessing();
  }

  writeWhole(status: number, fields: readonly string[], text: string, length: number): void {
    const response = this.#response;
    const { socket } = response;
    this.#writeHead(status, fields);
    // Still one write. But Node would put the head before the text, and with a long one that is a copy of all of it.
    if (length > LONG) {
      response.cork();
      response.flushHeaders();
    }
    response.end(text, encodingOf(text, length));
    if (socket !== null && socket.writableLength > 0) socket.setTimeout(this.#stallMs);
  }

  begin(status: number, fields: readonly string[]): void {
    this.#writeHead(status, fields);
    this.#response.flushHeaders();
  }

  write(chunk: string | Uint8Array): boolean {
    if (this.#response.write(chunk)) return true;
    this.#response.socket?.setTimeout(this.#stallMs);
    return false;
  }

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

  breakOff(): void {
    const { socket } = this.#response;
    socket?.setTimeout(this.#stallMs);
    // Node hands what was written last to the socket in the next tick; as of 26 that would be too late for a socket that ends.
    setImmediate(() => socket?.destroySoon());
  }

  destroy(): void {
    this.#response.destroy();
  }

  whenOver(callback: OverListener): () => void {
    const listener = () => callback(this.#isDelivered);
    this.#response.once('close', listener);
    return () => this.#response.off('close', listener);
  }

  /** With the words of its own status: Node keeps those of a head that could not be written. */
  #writeHead(status: number, fields: readonly string[]): void {
    this.#response.writeHead(status, STATUS_CODES[status] ?? '', fields as string[]);
  }
}
