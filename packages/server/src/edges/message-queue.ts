import type { UnreadAccount } from '@dragoman/core';
import type { StreamRecord } from './sse.ts';

/**
 * Numbered messages for a peer that reads them over one stream at a time. Some messages that were sent are kept,
 * because the stream may break before they arrive.
 */
export class MessageQueue {
  /** Consecutive messages: those that were sent and can be read again, then those that no stream has taken. */
  readonly #kept: StreamRecord[] = [];
  #next = 0;
  #sentUpTo = -1;
  #unsent = 0;
  #reader = 0;
  /** The number of the last message given to the current reader, and the characters of the kept messages up to it. */
  #readUpTo = -1;
  #readCharacters = 0;
  #wake = () => {};
  #onRead = () => {};
  #hasEnded = false;
  readonly #account: UnreadAccount | undefined;
  readonly #keptCharacters: number;

  /**
   * Messages that no stream has taken count on `account`. `keptCharacters` limits the sent messages that can be read
   * again.
   */
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

  /** Whether the queue has ended and everything was read. */
  get isOver(): boolean {
    return this.#hasEnded && this.#sentUpTo === this.#next - 1;
  }

  /** The number of the last message that a stream has taken; -1 if there is none. */
  get sentUpTo(): number {
    return this.#sentUpTo;
  }

  /** The lowest number after which a reader can resume without a gap; -1 if it can resume from the beginning. */
  get resumesAfter(): number {
    return this.#first - 1;
  }

  /** Whether a reader whose last message has this number can get every later message. */
  canResume(after: number): boolean {
    return after >= this.resumesAfter && after <= this.#sentUpTo;
  }

  push(data: string): void {
    this.#kept.push({ id: this.#next++, data });
    this.#unsent += data.length;
    this.#account?.sent(data.length);
    this.#wake();
  }

  /** Calls back once, when a stream takes a message that no stream had taken before. */
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
    // The messages may have been removed since the request was checked.
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

  /** The number of the oldest message that is kept. */
  get #first(): number {
    return this.#next - this.#kept.length;
  }

  #readFrom(after: number): void {
    this.#readUpTo = after;
    const past = this.#kept.slice(0, after + 1 - this.#first);
    this.#readCharacters = past.reduce((sum, { data }) => sum + data.length, 0);
  }

  /** The stream ended before it took this message, so the next reader starts with it. */
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
    // The last message is kept however long it is: it is the most likely to be missed when the stream breaks.
    while (this.#first < id && (id - this.#first >= KEPT || this.#readCharacters > this.#keptCharacters)) {
      this.#readCharacters -= this.#kept.shift()?.data.length ?? 0;
    }
  }
}

/** The limits of sent messages that can be read again: their number, and by default their characters. */
const KEPT = 256;
const KEPT_CHARACTERS = 1024 * 1024;
