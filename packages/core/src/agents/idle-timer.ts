import type { Clock } from '../ports/ports.ts';

/** Aborts when a wait takes too long. Time between waits does not count. */
export class IdleTimer {
  readonly #clock: Clock;
  readonly #milliseconds: number;
  readonly #expired = new AbortController();
  readonly #stopped = new AbortController();
  /** When the current wait began. */
  #since: number | undefined;
  #suspensions = 0;

  constructor({ clock, milliseconds }: { clock: Clock; milliseconds: number }) {
    this.#clock = clock;
    this.#milliseconds = milliseconds;
    this.#run().catch(() => {});
  }

  get signal(): AbortSignal {
    return this.#expired.signal;
  }

  async watch<T>(promise: Promise<T>): Promise<T> {
    this.#since = this.#clock.elapsed();
    try {
      return await promise;
    } finally {
      this.#since = undefined;
    }
  }

  async *watchEach<T>(source: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
    this.#since = this.#clock.elapsed();
    try {
      for await (const item of source) {
        this.#since = undefined;
        yield item;
        this.#since = this.#clock.elapsed();
      }
    } finally {
      this.#since = undefined;
    }
  }

  /** Time does not count until the promise is settled, such as while a person answers the agent's question. */
  async suspend<T>(promise: Promise<T>): Promise<T> {
    this.#suspensions += 1;
    try {
      return await promise;
    } finally {
      this.#suspensions -= 1;
      if (this.#since !== undefined) this.#since = this.#clock.elapsed();
    }
  }

  stop(): void {
    this.#stopped.abort();
  }

  /** Uses one timer for all waits, instead of one for each frame. */
  async #run(): Promise<void> {
    let left = this.#milliseconds;
    while (left > 0) {
      await this.#clock.wait(left, this.#stopped.signal);
      const now = this.#clock.elapsed();
      const since = this.#suspensions > 0 ? now : (this.#since ?? now);
      left = since + this.#milliseconds - now;
    }
    this.#expired.abort();
  }
}
