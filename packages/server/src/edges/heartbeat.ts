import type { Clock } from '@dragoman/core';

/**
 * Passes a stream on, and inserts a beat where the stream is silent for longer than `everyMs`, so that proxies keep the
 * connection and a lost peer is noticed. Items and beats are made only when the reader asks.
 */
export function withHeartbeat(source: AsyncIterable<string>, beat: HeartbeatOptions): AsyncIterable<string> {
  return { [Symbol.asyncIterator]: () => new Heartbeat(source[Symbol.asyncIterator](), beat) };
}

export interface HeartbeatOptions {
  readonly clock: Clock;
  readonly everyMs: number;
  readonly beat: string;
}

class Heartbeat implements AsyncIterator<string, undefined> {
  readonly #source: AsyncIterator<string>;
  readonly #options: HeartbeatOptions;
  readonly #stop = new AbortController();
  #reader: Reader | undefined;
  /** The item that the source yielded while the reader handled a heartbeat. */
  #arrived: Arrival | undefined;
  #pulling = false;
  #ticking = false;
  #lastSent: number;

  constructor(source: AsyncIterator<string>, options: HeartbeatOptions) {
    this.#source = source;
    this.#options = options;
    this.#lastSent = options.clock.elapsed();
  }

  next(): Promise<IteratorResult<string, undefined>> {
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
      if (this.#arrived !== undefined) this.#deliver(this.#arrived);
      else {
        if (!this.#pulling) this.#pull();
        if (!this.#ticking) void this.#tick();
      }
    });
  }

  async return(): Promise<IteratorResult<string, undefined>> {
    this.#stop.abort();
    this.#reader?.resolve(DONE);
    this.#reader = undefined;
    await this.#source.return?.();
    return DONE;
  }

  #pull(): void {
    this.#pulling = true;
    this.#source.next().then(
      (result) => this.#deliver({ result: result.done === true ? DONE : result }),
      (error: unknown) => this.#deliver({ error }),
    );
  }

  #deliver(arrival: Arrival): void {
    this.#pulling = false;
    const reader = this.#reader;
    if (reader === undefined) {
      this.#arrived = arrival;
      return;
    }
    this.#reader = undefined;
    this.#arrived = undefined;
    this.#lastSent = this.#options.clock.elapsed();
    if (arrival.result === undefined || arrival.result.done === true) this.#stop.abort();
    if (arrival.result === undefined) reader.reject(arrival.error);
    else reader.resolve(arrival.result);
  }

  /** One timer at a time: each item only moves the moment from which silence is measured. */
  async #tick(): Promise<void> {
    const { clock, everyMs, beat } = this.#options;
    this.#ticking = true;
    try {
      for (;;) {
        const silence = clock.elapsed() - this.#lastSent;
        if (silence < everyMs) await clock.wait(everyMs - silence, this.#stop.signal);
        // The reader asks for nothing: the peer has unread bytes, and needs no heartbeat.
        if (this.#reader === undefined || this.#stop.signal.aborted) return;
        if (clock.elapsed() - this.#lastSent < everyMs) continue;
        const reader = this.#reader;
        this.#reader = undefined;
        this.#lastSent = clock.elapsed();
        reader.resolve({ done: false, value: beat });
      }
    } catch {
      // The wait was aborted, because the stream is over.
    } finally {
      this.#ticking = false;
    }
  }
}

interface Reader {
  resolve(result: IteratorResult<string, undefined>): void;
  reject(error: unknown): void;
}

interface Arrival {
  readonly result?: IteratorResult<string, undefined>;
  readonly error?: unknown;
}

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };
