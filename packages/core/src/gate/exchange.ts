import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { failureOf, Refused } from '../refusals/refused.ts';
import { connectFault } from './connect-fault.ts';
import { brokenAnswer, excessive, tooLarge, unreachableHost } from './gate-failure.ts';
import { joined } from './whole-body.ts';

/**
 * One running request and its answer. Without a reader, only a limited part of the body is read from the socket.
 *
 *   waiting ──sent──▶ sent ──head──▶ answering ──end──▶ over
 *      └──────────────┴─────fail, from either side──────▶ over
 */
export class OutboundExchange implements Dispatcher.DispatchHandler {
  /** Resolves when the status and headers of the answer have arrived. */
  readonly head: Promise<Head>;
  readonly #onOver: () => unknown;
  readonly #announcements: number;
  #giveHead: (head: Head) => void = () => {};
  #refuseHead: (error: unknown) => void = () => {};
  #controller: Dispatcher.DispatchController | undefined;
  #chunks: Uint8Array[] = [];
  #queuedBytes = 0;
  #informed = 0;
  #sent = false;
  #state: 'open' | 'ended' | 'failed' = 'open';
  #error: unknown;
  #wake: (() => void) | undefined;

  /** `onOver` is called once, when the exchange is over. `announcements` limits the interim responses (1xx). */
  constructor({ onOver, announcements }: { onOver: () => unknown; announcements: number }) {
    this.#onOver = onOver;
    this.#announcements = announcements;
    this.head = new Promise((resolve, reject) => {
      this.#giveHead = resolve;
      this.#refuseHead = reject;
    });
    this.head.catch(() => {});
  }

  /** Whether any of it may have reached the host. */
  get sent(): boolean {
    return this.#sent;
  }

  /** Whether the exchange has ended or failed. */
  get isOver(): boolean {
    return this.#state !== 'open';
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#state === 'failed') controller.abort(asError(this.#error));
    else this.#sent = true;
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status >= 200) this.#giveHead({ status, headers });
    else if (++this.#informed > this.#announcements)
      this.fail(new Refused(excessive('it sent too many interim responses')));
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#state !== 'open') return;
    this.#chunks.push(chunk);
    this.#queuedBytes += chunk.length;
    if (this.#queuedBytes > MAX_QUEUED_BYTES) controller.pause();
    this.#wake?.();
  }

  onResponseEnd(): void {
    if (this.#state === 'open') this.#over('ended');
  }

  onResponseError(_: Dispatcher.DispatchController | undefined, error: Error): void {
    if (failureOf(error) !== undefined) this.fail(error);
    else this.fail(new Refused(this.#sent ? brokenAnswer(error) : unreachableHost(connectFault(error))));
  }

  /** Ends the exchange with this error, and closes its connection. */
  fail(error: unknown): void {
    if (this.#state !== 'open') return;
    this.#error = error;
    this.#over('failed');
    this.#refuseHead(error);
    this.#controller?.abort(asError(error));
  }

  /** Ends the exchange, because the rest of the answer is not needed. */
  leave(): void {
    this.fail(LEFT);
  }

  /** The bytes of the body as received. For one reader; one that leaves early ends the connection. */
  async *body(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (;;) {
        const chunk = this.#chunks.shift();
        if (chunk !== undefined) {
          this.#queuedBytes -= chunk.length;
          if (this.#queuedBytes <= MAX_QUEUED_BYTES && this.#controller?.paused) this.#controller.resume();
          yield chunk;
        } else if (this.#state === 'failed') throw this.#error;
        else if (this.#state === 'ended') return;
        else {
          await new Promise<void>((wake) => {
            this.#wake = wake;
          });
        }
      }
    } finally {
      this.leave();
    }
  }

  /** The whole body, for use instead of `body`. Rejects if it is longer than `maxBytes`. */
  whole(maxBytes: number): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (this.#queuedBytes > maxBytes) {
          const error = new Refused(tooLarge(maxBytes));
          this.fail(error);
          // `fail` does nothing if the answer has ended already.
          reject(error);
        } else if (this.#state === 'failed') reject(this.#error);
        else if (this.#state === 'ended') resolve(joined(this.#chunks));
        else if (this.#controller?.paused) this.#controller.resume();
      };
      this.#wake = look;
      look();
    });
  }

  #over(state: 'ended' | 'failed'): void {
    this.#state = state;
    this.#onOver();
    this.#wake?.();
  }
}

export interface Head {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : LEFT;
}

const LEFT = new Error('the answer was left unread');
const MAX_QUEUED_BYTES = 64 * 1024;
