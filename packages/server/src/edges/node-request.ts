import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { ArrivedRequest, DiscardLimit, ReadBody } from './arrived-request.ts';
import { bodyTooLarge } from './body.ts';

/** A request that Node has read. */
export class NodeRequest implements ArrivedRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly #message: IncomingMessage;

  constructor(message: IncomingMessage) {
    this.#message = message;
    this.method = message.method ?? '';
    this.target = message.url ?? '';
    this.headers = message.headers;
  }

  get httpVersion(): string {
    return this.#message.httpVersion;
  }

  get fieldCount(): number {
    return this.#message.rawHeaders.length / 2;
  }

  get peer(): string | undefined {
    return this.#message.socket.remoteAddress;
  }

  get isReceived(): boolean {
    return this.#message.complete;
  }

  readBody(maxBytes: number): Promise<ReadBody> {
    const message = this.#message;
    return new Promise((resolve) => {
      const chunks: Buffer[] = [];
      let size = 0;
      const take = (chunk: Buffer) => {
        size += chunk.length;
        if (size <= maxBytes) {
          chunks.push(chunk);
          return;
        }
        message.off('data', take).pause();
        resolve(bodyTooLarge(maxBytes));
      };
      // The first to come decides. Every request is closed at last, and to settle a promise twice is told to Node, at some cost.
      let isOver = false;
      const giveUp = () => {
        if (!isOver) resolve(undefined);
      };
      if (message.destroyed) giveUp();
      message
        .on('data', take)
        .on('end', () => {
          isOver = true;
          resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, size));
        })
        .on('close', giveUp)
        .on('error', giveUp);
    });
  }

  discardBody({ clock, bytes, ms }: DiscardLimit): Promise<void> {
    const message = this.#message;
    return new Promise((resolve) => {
      const timer = new AbortController();
      let size = 0;
      const stop = () => {
        message.off('data', count).off('end', stop).off('close', stop);
        message.pause();
        timer.abort();
        resolve();
      };
      const count = (chunk: Buffer) => {
        size += chunk.length;
        if (size > bytes) stop();
      };
      message.on('error', ignore).on('data', count).on('end', stop).on('close', stop).resume();
      clock.wait(ms, timer.signal).then(stop, ignore);
    });
  }
}

function ignore(): void {}
