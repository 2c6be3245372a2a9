import type { Log } from '../ports/ports.ts';
import type { Embedder } from './embedder.ts';

/**
 * The vectors of all passages, computed in the background and kept in memory, even after the encoder has ended. They
 * are not stored: after a restart, the first search has them computed again.
 */
export class MeaningIndex {
  readonly #embedder: Embedder;
  readonly #log: Log;
  readonly #vectors = new Map<string, Float32Array>();
  readonly #wanted = new Set<string>();
  #working = false;

  constructor({ embedder, log }: { embedder: Embedder; log: Log }) {
    this.#embedder = embedder;
    this.#log = log;
    embedder.onReady(() => void this.#work());
  }

  /** Starts computing the vectors of these passages. */
  want(passages: Iterable<string>): void {
    for (const passage of passages) if (!this.#vectors.has(passage)) this.#wanted.add(passage);
    void this.#work();
  }

  /** Drops the vectors of all other passages. */
  keepOnly(passages: ReadonlySet<string>): void {
    for (const passage of this.#vectors.keys()) if (!passages.has(passage)) this.#vectors.delete(passage);
    for (const passage of this.#wanted) if (!passages.has(passage)) this.#wanted.delete(passage);
  }

  vectorOf(passage: string): Float32Array | undefined {
    return this.#vectors.get(passage);
  }

  /** Computes one batch at a time. A query is not queued, so it waits for one batch at most. */
  async #work(): Promise<void> {
    if (this.#working || this.#wanted.size === 0 || !this.#embedder.isReady()) return;
    this.#working = true;
    try {
      while (this.#wanted.size > 0 && this.#embedder.isReady()) {
        const batch = [...this.#wanted].slice(0, BATCH);
        const vectors = await this.#embedder.embed(batch);
        for (const [index, passage] of batch.entries()) {
          const vector = vectors[index];
          // Entries removed in the meantime stay removed.
          if (this.#wanted.delete(passage) && vector !== undefined) this.#vectors.set(passage, vector);
        }
      }
    } catch (error) {
      // The rest is tried again when the encoder is ready, and at the next call of `want`.
      this.#log.debug({ error: String(error), waiting: this.#wanted.size }, 'passages wait for their vectors');
    } finally {
      this.#working = false;
    }
  }
}

const BATCH = 8;
