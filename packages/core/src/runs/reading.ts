import type { E2AResponse } from '@dragoman/protocols';
import type { FrameRow } from '../store/store.ts';
import { framed, frameFrom } from './frame-text.ts';

/** Where the frames of one request come from. */
export interface FrameSource {
  /** Some of the frames after this one, as soon as there are any; none when the answer is over. */
  after(sequence: number): Promise<readonly FrameRow[]>;
  /** Resolves when `after` would not wait; absent where it never does. */
  ready?(sequence: number): Promise<void>;
  /** The final frame, where it is in memory, so that it need not be read from its text. */
  readonly final?: E2AResponse | undefined;
}

/**
 * One reader of an answer. Nothing is opened before it reads. It can take the frames one by one, as a
 * `Handler` gives them, or, which is much cheaper, as they were recorded: several at a time, as text that only needs to be sent.
 */
export class Reading implements AsyncIterable<E2AResponse> {
  readonly #open: () => Promise<FrameSource>;
  #opening: Promise<FrameSource> | undefined;
  #source: FrameSource | undefined;
  #last: number;
  #over = false;

  constructor({ open, after }: { open: () => Promise<FrameSource>; after: number }) {
    this.#open = open;
    this.#last = after;
  }

  /** Resolves when `next` has something to give, or nothing more. A reader that waits here holds no frame in memory. */
  async ready(): Promise<void> {
    if (this.#over) return;
    this.#source ??= await this.#opened();
    await this.#source.ready?.(this.#last);
  }

  /** The frames that are there and were not read yet, or the next ones as soon as they are; none when it is over. */
  async next(): Promise<readonly FrameRow[]> {
    if (this.#over) return [];
    this.#source ??= await this.#opened();
    const rows = await this.#source.after(this.#last);
    const last = rows.at(-1);
    if (last === undefined || last.isFinal) this.#over = true;
    if (last !== undefined) this.#last = last.sequence;
    return rows;
  }

  /** The final frame; earlier frames are skipped. */
  async final(): Promise<FrameRow | undefined> {
    for (;;) {
      const last = (await this.next()).at(-1);
      if (last === undefined || last.isFinal) return last;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<E2AResponse, void, undefined> {
    for (let rows = await this.next(); rows.length > 0; rows = await this.next()) {
      for (const row of rows) yield this.frameOf(row);
    }
  }

  /** Opened once, even if `next` is called before `ready` has opened it. */
  #opened(): Promise<FrameSource> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  /** A frame that was read. Keeping all of them in memory beside their text costs a fast stream more than it saves its readers. */
  frameOf({ isFinal, text }: FrameRow): E2AResponse {
    const final = isFinal ? this.#source?.final : undefined;
    return final === undefined ? frameFrom(text) : framed(final, text);
  }
}
