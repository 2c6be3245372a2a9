import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Clock } from '@dragoman/core';
import type { Failure } from '@dragoman/protocols';
import { bodyTooLarge } from './body.ts';

/** One HTTP request as Node parsed it, with its body read or discarded under limits. */
export class HttpRequest {
  readonly method: string;
  readonly target: string;
  /** By lower-case name. A repeated field has all its values, separated by commas. */
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

  /** The address at the other end of the connection. */
  get peer(): string | undefined {
    return this.#message.socket.remoteAddress;
  }

  /** The request has arrived completely. */
  get isReceived(): boolean {
    return this.#message.complete;
  }

  /** The whole body, a failure as soon as it exceeds the limit, or `undefined` when the peer disconnects before its end. */
  readBody(maxBytes: number): Promise<Uint8Array | Failure | undefined> {
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
      const giveUp = () => resolve(undefined);
      if (message.destroyed) giveUp();
      message
        .on('data', take)
        .on('end', () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, size)))
        .on('close', giveUp)
        .on('error', giveUp);
    });
  }

  /**
   * Reads and discards the rest of the body for a short time after the answer was written. Closing a socket with unread bytes
   * resets the connection, and the reset can overtake the answer: the peer would not see why it was refused.
   */
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

export interface DiscardLimit {
  readonly clock: Clock;
  readonly bytes: number;
  readonly ms: number;
}

function ignore(): void {}
