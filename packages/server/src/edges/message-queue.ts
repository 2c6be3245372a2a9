import type { StreamRecord } from './sse.ts';

/**
 * Messages for a peer that reads them over one stream after another: numbered, in order, and some of those it was sent kept
 * for when the stream breaks before they arrive.
 */
export class MessageQueue {
  readonly #kept: StreamRecord[] = [];
  #next = 0;
  #sentUpTo = -1;
  #unsent = 0;
  #reader = 0;
  #wake = () => {};
  #hasEnded = false;

  /** Characters that no stream has taken yet. */
  get unsent(): number {
    return this.#unsent;
  }

  /** Everything was taken, and no more will come. */
  get isOver(): boolean {
    return this.#hasEnded && this.#sentUpTo === this.#next - 1;
  }

  push(data: string): void {
    this.#kept.push({ id: this.#next++, data });
    this.#unsent += data.length;
    this.#wake();
  }

  /** No more will come; what is there can still be read. */
  end(): void {
    this.#hasEnded = true;
    this.#wake();
  }

  /** Those after this number, or those nobody has read. A new reader takes the place of the one before it. */
  async *read(after: number | undefined): AsyncGenerator<StreamRecord> {
    this.#reader += 1;
    const reader = this.#reader;
    this.#wake();
    let last = after ?? this.#sentUpTo;
    while (reader === this.#reader) {
      const record = this.#kept.find(({ id }) => id > last);
      if (record !== undefined) {
        last = record.id;
        this.#sent(record);
        yield record;
      } else if (this.#hasEnded) return;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  #sent({ id, data }: StreamRecord): void {
    if (id > this.#sentUpTo) {
      this.#sentUpTo = id;
      this.#unsent -= data.length;
    }
    while (this.#kept.length > KEPT && (this.#kept[0]?.id ?? id) < this.#sentUpTo) this.#kept.shift();
  }
}

/** Sent messages that a broken stream may ask for again. */
const KEPT = 256;
