import type { UnreadAccount } from '@dragoman/core';
import type { StreamRecord } from './sse.ts';

/**
 * Messages for a peer that reads them over one stream after another: numbered, in order, and some of those it was sent kept
 * for when the stream breaks before they arrive.
 */
export class MessageQueue {
  /** Without a gap: those of the reader's past that are still to be had, then those it has not read. */
  readonly #kept: StreamRecord[] = [];
  #next = 0;
  #sentUpTo = -1;
  #unsent = 0;
  #reader = 0;
  /** The number of the last message given to the current reader, and the characters kept up to it. */
  #readUpTo = -1;
  #readCharacters = 0;
  #wake = () => {};
  #onRead = () => {};
  #hasEnded = false;
  readonly #account: UnreadAccount | undefined;
  readonly #keptCharacters: number;

  /** Everything that no stream has taken counts on the account. `keptCharacters` bounds what a broken stream may ask for again. */
  constructor(
    account?: UnreadAccount,
    { keptCharacters = KEPT_CHARACTERS }: { readonly keptCharacters?: number } = {},
  ) {
    this.#account = account;
    this.#keptCharacters = keptCharacters;
  }

  /** Characters that no stream has taken yet. */
  get unsent(): number {
    return this.#unsent;
  }

  /** Everything was read, and the queue has ended. */
  get isOver(): boolean {
    return this.#hasEnded && this.#sentUpTo === this.#next - 1;
  }

  /** The number of the last that a stream has taken; -1 before the first. */
  get sentUpTo(): number {
    return this.#sentUpTo;
  }

  /** The lowest number after which everything can still be had; -1 from the beginning. */
  get resumesAfter(): number {
    return this.#first - 1;
  }

  /** Whether a reader that received this number last can have everything after it. */
  canResume(after: number): boolean {
    return after >= this.resumesAfter && after <= this.#sentUpTo;
  }

  push(data: string): void {
    this.#kept.push({ id: this.#next++, data });
    this.#unsent += data.length;
    this.#account?.sent(data.length);
    this.#wake();
  }

  /** Calls back once, when a stream takes the next that none has taken. */
  whenRead(callback: () => void): void {
    this.#onRead = callback;
  }

  /** Ends the queue; waiting messages can still be read. */
  end(): void {
    this.#hasEnded = true;
    this.#wake();
  }

  /** The messages after this number, or the unread ones. A new reader replaces the earlier one. */
  async *read(after: number | undefined): AsyncGenerator<StreamRecord> {
    // It may have been kept at the time of the request, and not any more.
    if (after !== undefined && !this.canResume(after)) return;
    this.#reader += 1;
    const reader = this.#reader;
    this.#wake();
    this.#readFrom(after ?? this.#sentUpTo);
    while (reader === this.#reader) {
      const record = this.#kept[this.#readUpTo + 1 - this.#first];
      if (record !== undefined) {
        this.#sent(record);
        let isTaken = false;
        try {
          yield record;
          isTaken = true;
        } finally {
          if (!isTaken && reader === this.#reader) this.#giveBack(record);
        }
      } else if (this.#hasEnded) return;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  /** The number of the oldest that can still be had. */
  get #first(): number {
    return this.#next - this.#kept.length;
  }

  #readFrom(after: number): void {
    this.#readUpTo = after;
    const past = this.#kept.slice(0, after + 1 - this.#first);
    this.#readCharacters = past.reduce((sum, { data }) => sum + data.length, 0);
  }

  /** The stream was released before it took this one: the next reader starts with it. */
  #giveBack({ id, data }: StreamRecord): void {
    this.#readUpTo = id - 1;
    this.#readCharacters -= data.length;
    if (id < this.#sentUpTo) return;
    this.#sentUpTo = id - 1;
    this.#unsent += data.length;
    this.#account?.sent(data.length);
  }

  #sent({ id, data }: StreamRecord): void {
    this.#readUpTo = id;
    this.#readCharacters += data.length;
    if (id > this.#sentUpTo) {
      this.#sentUpTo = id;
      this.#unsent -= data.length;
      this.#account?.read(data.length);
      const onRead = this.#onRead;
      this.#onRead = () => {};
      onRead();
    }
    // The last one stays however long it is: it is the first to be missed when the stream breaks.
    while (this.#first < id && (id - this.#first >= KEPT || this.#readCharacters > this.#keptCharacters)) {
      this.#readCharacters -= this.#kept.shift()?.data.length ?? 0;
    }
  }
}

/** Sent messages that a broken stream may ask for again: so many, and by default so long together. */
const KEPT = 256;
const KEPT_CHARACTERS = 1024 * 1024;
