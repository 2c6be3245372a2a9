import type { E2AResponse } from '@dragoman/protocols';

/**
 * The received but unread frames of one answer. A WebSocket has no backpressure, so the queue is bounded: further
 * frames are dropped, and the reader fetches them from the journal.
 */
export class FrameQueue {
  readonly #frames: { readonly frame: E2AResponse; readonly size: number }[] = [];
  readonly #maxSize: number;
  #size = 0;
  #hasOverflowed = false;
  #failure: { readonly error: unknown } | undefined;
  #wake = () => {};

  constructor(maxSize = MAX_SIZE) {
    this.#maxSize = maxSize;
  }

  push(frame: E2AResponse, size: number): void {
    this.#hasOverflowed ||= this.#size > 0 && this.#size + size > this.#maxSize;
    // After a dropped frame, later ones are dropped, too.
    if (this.#hasOverflowed) return;
    this.#frames.push({ frame, size });
    this.#size += size;
    this.#wake();
  }

  /** Reports that no more frames follow. Received frames can still be read. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#wake();
  }

  /** The next frame; `undefined` if frames were dropped. Rejects if no more can arrive, or the signal aborts. */
  async next(signal: AbortSignal): Promise<E2AResponse | undefined> {
    const wake = () => this.#wake();
    signal.addEventListener('abort', wake, { once: true });
    try {
      for (;;) {
        signal.throwIfAborted();
        const first = this.#frames.shift();
        if (first !== undefined) {
          this.#size -= first.size;
          return first.frame;
        }
        if (this.#hasOverflowed) return undefined;
        if (this.#failure !== undefined) throw this.#failure.error;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      signal.removeEventListener('abort', wake);
    }
  }
}

/** In characters of JSON. */
const MAX_SIZE = 8 * 1024 * 1024;
