import type { E2AResponse } from '@dragoman/protocols';
import type { RequestKey, RequestStore } from '../store/store.ts';
import { frameFrom, frameText } from './frame-text.ts';
import { type Patience, patiently } from './patiently.ts';
import type { RunCounts } from './run-counts.ts';

/**
 * The answer to one request while it is being given. Frames are written in batches, whatever has come while the last
 * batch was on its way to the disk, and readers see them only once they are there.
 *
 * Recent frames are kept in memory up to a bound shared by all readers; a reader that falls behind it reads from the
 * journal instead. So a slow reader costs nothing and loses nothing.
 */
export class Run {
  readonly key: RequestKey;
  readonly #store: RequestStore;
  readonly #counts: RunCounts | undefined;
  readonly #patience: Patience | undefined;
  readonly #tailBytes: number;
  /** Frames still in memory; the first has the sequence `#tailStart`. */
  readonly #tail: E2AResponse[] = [];
  #tailStart: number;
  #tailSize = 0;
  /** Frames given but not yet durable. */
  #pending: E2AResponse[] = [];
  #pendingSize = 0;
  #given: number;
  #durable: number;
  #finalGiven = false;
  #ended = false;
  #broken: unknown;
  #flushing: Promise<void> | undefined;
  #wake: (() => void)[] = [];

  constructor({ key, store, counts, patience, from = 0, tailBytes = 1 << 20 }: RunOptions) {
    this.key = key;
    this.#store = store;
    this.#counts = counts;
    this.#patience = patience;
    this.#tailBytes = tailBytes;
    this.#given = from;
    this.#durable = from;
    this.#tailStart = from;
  }

  /** The sequence the next frame must have. */
  get next(): number {
    return this.#given;
  }

  /** Whether the final frame has been given. */
  get answered(): boolean {
    return this.#finalGiven;
  }

  /** Takes the next frame. Wait for it before making another: it holds back whoever is faster than the disk. */
  async give(frame: E2AResponse): Promise<void> {
    // E2A §12.3: sequence starts at 0 and goes up by one; nothing comes after the final frame.
    if (frame.sequence !== this.#given) throw new Error(`frame ${frame.sequence} given where ${this.#given} is next`);
    if (this.#finalGiven) throw new Error('a frame was given after the final one');
    if (this.#broken !== undefined) throw this.#broken;
    this.#given++;
    this.#finalGiven = frame.is_final;
    this.#pending.push(frame);
    this.#pendingSize += frameText(frame).length;
    if (this.#flushing === undefined) {
      this.#flushing = this.#flush();
      // Who gives the next frame, and who reads, is told by `#broken`.
      this.#flushing.catch(() => {});
    }
    if (frame.is_final || this.#pendingSize > MAX_PENDING) await this.#flushing;
  }

  /** The frames after `after`, as they become durable, to the final one. */
  async *read(after: number): AsyncGenerator<E2AResponse, void, undefined> {
    let next = after + 1;
    for (;;) {
      if (next < this.#durable) {
        for (const frame of await this.#from(next)) {
          yield frame;
          next = frame.sequence + 1;
          if (frame.is_final) return;
        }
      } else if (this.#broken !== undefined) {
        throw this.#broken;
      } else if (this.#ended) {
        return;
      } else {
        await new Promise<void>((resolve) => this.#wake.push(resolve));
      }
    }
  }

  async #flush(): Promise<void> {
    try {
      while (this.#pending.length > 0) {
        const batch = this.#pending;
        this.#pending = [];
        this.#pendingSize = 0;
        await this.#append(batch);
        this.#keep(batch);
        this.#durable += batch.length;
        this.#ended = batch.at(-1)?.is_final === true;
        this.#count(batch);
        this.#wakeReaders();
      }
    } catch (error) {
      this.#broken = error;
      this.#wakeReaders();
      throw error;
    } finally {
      this.#flushing = undefined;
    }
  }

  #append(batch: readonly E2AResponse[]): Promise<void> {
    const rows = batch.map((frame) => ({
      sequence: frame.sequence,
      isFinal: frame.is_final,
      text: frameText(frame),
    }));
    const append = () => this.#store.append(this.key, rows);
    return this.#patience === undefined ? append() : patiently(append, this.#patience);
  }

  #count(batch: readonly E2AResponse[]): void {
    if (this.#counts === undefined) return;
    this.#counts.frames += batch.length;
    const last = batch.at(-1);
    if (last?.is_final === true) this.#counts.finish(last);
  }

  #keep(batch: readonly E2AResponse[]): void {
    for (const frame of batch) {
      this.#tail.push(frame);
      this.#tailSize += frameText(frame).length;
    }
    let dropped = 0;
    while (this.#tailSize > this.#tailBytes && dropped < this.#tail.length) {
      this.#tailSize -= frameText(this.#tail[dropped] as E2AResponse).length;
      dropped++;
    }
    this.#tail.splice(0, dropped);
    this.#tailStart += dropped;
  }

  /** Some durable frames from `next` on: out of memory when they are still there. */
  async #from(next: number): Promise<readonly E2AResponse[]> {
    if (next >= this.#tailStart) return this.#tail.slice(next - this.#tailStart);
    const rows = await this.#store.frames(this.key, { after: next - 1, limit: READ_FRAMES, maxBytes: READ_BYTES });
    return rows.map((row) => frameFrom(row.text));
  }

  #wakeReaders(): void {
    const wake = this.#wake;
    this.#wake = [];
    for (const reader of wake) reader();
  }
}

interface RunOptions {
  readonly key: RequestKey;
  readonly store: RequestStore;
  readonly counts?: RunCounts;
  /** How long to go on when the store refuses; at once no longer unless told. */
  readonly patience?: Patience;
  /** The sequence to go on from, for a request an earlier process began. */
  readonly from?: number;
  readonly tailBytes?: number;
}

/** How much may wait for the disk before the agent has to. */
const MAX_PENDING = 256 * 1024;
const READ_FRAMES = 500;
const READ_BYTES = 256 * 1024;
