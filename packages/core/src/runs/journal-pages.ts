import type { FrameRow, RequestKey, RequestStore } from '../store/store.ts';

/**
 * Reads pages of recorded answers, only a few at a time: each page stays in memory until it is sent, and a thousand
 * readers may request one at once. The owners of the answers take turns, so that an owner with many readers does not
 * slow down others.
 */
export class JournalPages {
  readonly #store: RequestStore;
  /** The waiting readers by owner; the owners in the order of their turns. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #reading = 0;

  constructor(store: RequestStore) {
    this.#store = store;
  }

  async read(key: RequestKey, { after, limit = 500, maxBytes = PAGE_BYTES, signal }: PageRange): Promise<FrameRow[]> {
    if (this.#reading < MOST_READING) this.#reading += 1;
    else await this.#turnOf(key.owner);
    try {
      if (signal?.aborted === true) return [];
      return await this.#store.frames(key, { after, limit, maxBytes });
    } finally {
      this.#next();
    }
  }

  #turnOf(owner: string): Promise<void> {
    return new Promise((resolve) => {
      const queue = this.#waiting.get(owner) ?? [];
      queue.push(resolve);
      this.#waiting.set(owner, queue);
    });
  }

  #next(): void {
    const [first] = this.#waiting;
    if (first === undefined) {
      this.#reading -= 1;
      return;
    }
    const [owner, queue] = first;
    const turn = queue.shift();
    // The map keeps insertion order: this owner is last now.
    this.#waiting.delete(owner);
    if (queue.length > 0) this.#waiting.set(owner, queue);
    turn?.();
  }
}

export interface PageRange {
  readonly after: number;
  readonly limit?: number;
  /** Default: 64 KiB. A page has at least one frame, even if that is longer. */
  readonly maxBytes?: number;
  /** Aborts when the reader leaves. An aborted read that has not begun returns an empty page. */
  readonly signal?: AbortSignal | undefined;
}

/** The size of a page: one write to the socket of a reader. */
export const PAGE_BYTES = 64 * 1024;
/** The store reads one page after another, so more reads at once would only use memory. */
const MOST_READING = 4;
