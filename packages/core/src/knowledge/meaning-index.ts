import type { Log } from '../ports/ports.ts';
import type { Embedder } from './embedder.ts';

/**
 * The vectors of the passages there are, made in the background and kept while the process lives, also when the encoder has
 * been let go. After a restart the first search has them made again: a vector costs less than a row.
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

  /** Starts computing vectors for these. */
  want(passages: Iterable<string>): void {
    for (const passage of passages) if (!this.#vectors.has(passage)) this.#wanted.add(passage);
    void this.#work();
  }

  /** Forgets all but these. */
  keepOnly(passages: ReadonlySet<string>): void {
    for (const passage of this.#vectors.keys()) if (!passages.has(passage)) this.#vectors.delete(passage);
    for (const passage of this.#wanted) if (!passages.has(passage)) this.#wanted.delete(passage);
  }

  vectorOf(passage: string): Float32Array | undefined {
    return this.#vectors.get(passage);
  }

  /** One batch at a time: a query, which is not queued, waits for one at most. */
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
      // Tried again when the encoder is ready once more, or something is wanted.
      this.#log.debug({ error: String(error), waiting: this.#wanted.size }, 'passages wait for their vectors');
    } finally {
      this.#working = false;
    }
  }
}

const BATCH = 8;
