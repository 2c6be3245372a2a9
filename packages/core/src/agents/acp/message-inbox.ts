import type { Json, Outcome } from '@dragoman/protocols';

/** Buffers received messages for a reader that takes them one by one. */
export class MessageInbox implements AsyncIterable<Outcome<Json>> {
  readonly #messages: Outcome<Json>[] = [];
  #isEnded = false;
  #onArrival = () => {};
  #onRoom = () => {};

  /** Takes a message. Returns a promise where the sender has to wait for the reader. */
  push(message: Outcome<Json>): Promise<void> | undefined {
    this.#messages.push(message);
    this.#onArrival();
    if (this.#messages.length < MOST_UNREAD || this.#isEnded) return undefined;
    return new Promise((resolve) => {
      const before = this.#onRoom;
      this.#onRoom = () => {
        before();
        resolve();
      };
    });
  }

  end(): void {
    this.#isEnded = true;
    this.#onArrival();
    this.#onRoom();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Outcome<Json>, void, undefined> {
    for (;;) {
      const message = this.#messages.shift();
      if (message !== undefined) {
        if (this.#messages.length < MOST_UNREAD / 2) this.#onRoom();
        yield message;
      } else if (this.#isEnded) return;
      else {
        await new Promise<void>((resolve) => {
          this.#onArrival = resolve;
        });
      }
    }
  }
}

const MOST_UNREAD = 64;
