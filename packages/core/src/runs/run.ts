import { answerEnd, type E2AResponse, questionEndIn } from '@dragoman/protocols';
import { isNotHeld } from '../store/held.ts';
import { type Patience, patiently } from '../store/patiently.ts';
import type { FrameRow, Held, ProgressChange, RequestKey, RequestStore } from '../store/store.ts';
import { LOST } from './active-run.ts';
import { afterPromises } from './after-promises.ts';
import { FrameWriter } from './frame-text.ts';
import { type JournalPages, PAGE_BYTES } from './journal-pages.ts';
import type { FrameSource } from './reading.ts';
import { outcomeOfFrame, type RunCounts } from './run-counts.ts';

/**
 * The answer to one request while it is being given. Frames are written in batches: all that arrive during one write
 * are the next batch. Readers see frames only once they are on the disk.
 *
 * Recent frames stay in memory as text, up to a bound; all readers share them. A reader that falls further behind reads
 * from the journal, so a slow reader takes no memory and loses no frame.
 */
export class Run implements FrameSource {
  readonly key: RequestKey;
  #held: Held | null;
  readonly #store: RequestStore;
  readonly #pages: JournalPages;
  readonly #agentId: string;
  readonly #counts: RunCounts;
  readonly #patience: Patience;
  readonly #writer = new FrameWriter();
  readonly #onFrame: RunOptions['onFrame'];
  readonly #onLanded: RunOptions['onLanded'];
  readonly #onLost: RunOptions['onLost'];
  /** The source of the remaining frames when another node answers the request. */
  #followed: FrameSource | undefined;
  /** Frames still in memory; the first has the sequence `#tailStart`. */
  #tail: FrameRow[] = [];
  #tailStart: number;
  #tailSize = 0;
  /** Frames given but not yet durable. */
  #pending: FrameRow[] = [];
  #pendingSize = 0;
  #given: number;
  #durable: number;
  #final: E2AResponse | undefined;
  #ended = false;
  #broken: unknown;
  #flushing: Promise<void> | undefined;
  /** Set until the request itself is recorded, because no frame can be recorded before. */
  #recording: Latch | undefined;
  /** Frames that are being recorded together with their request. */
  #taken: Batch | undefined;
  #wake: (() => void)[] = [];

  constructor({ key, held, agentId, store, pages, counts, patience, onFrame, onLanded, onLost, from = 0 }: RunOptions) {
    this.key = key;
    this.#held = held;
    this.#agentId = agentId;
    this.#store = store;
    this.#pages = pages;
    this.#counts = counts;
    this.#patience = patience;
    this.#onFrame = onFrame;
    this.#onLanded = onLanded;
    this.#onLost = onLost;
    this.#given = from;
    this.#durable = from;
    this.#tailStart = from;
    if (held === null) this.#recording = new Latch();
  }

  /** The sequence the next frame must have. */
  get next(): number {
    return this.#given;
  }

  get final(): E2AResponse | undefined {
    return this.#followed === undefined ? this.#final : undefined;
  }

  /** The right to write to the request; null before the request is recorded. */
  get held(): Held | null {
    return this.#held;
  }

  /** The sequence of the first frame that readers do not see yet. */
  get durable(): number {
    return this.#durable;
  }

  /** Whether the final frame has been given. */
  get answered(): boolean {
    return this.#final !== undefined;
  }

  /**
   * Takes the next frame. Where it returns a promise, wait for that before giving another frame: it makes sure that the
   * final frame is durable, and slows down an agent that is faster than the disk.
   */
  give(frame: E2AResponse): Promise<void> | undefined {
    // E2A §12.3: sequence starts at 0 and increases by one; nothing follows the final frame.
    if (frame.sequence !== this.#given) throw new Error(`frame ${frame.sequence} given where ${this.#given} is next`);
    if (this.#final !== undefined) throw new Error('a frame was given after the final one');
    if (this.#broken !== undefined) throw this.#broken;
    const text = this.#writer.write(frame);
    this.#onFrame?.(frame);
    this.#given++;
    if (frame.is_final) this.#final = frame;
    const change = changesProgress(frame) ? changeBy(frame) : undefined;
    this.#pending.push({ sequence: frame.sequence, isFinal: frame.is_final, text, change });
    this.#pendingSize += text.length;
    if (this.#flushing === undefined) {
      this.#flushing = this.#flush();
      // `#broken` reports the error to the agent and to readers.
      this.#flushing.catch(() => {});
    }
    return frame.is_final || this.#pendingSize > MAX_PENDING ? this.#flushing : undefined;
  }

  /** Resolves when every frame that was given is durable. */
  async flushed(): Promise<void> {
    await this.#flushing;
  }

  /** Records that an agent works on the request from now on. False when another process has claimed it. */
  start(): Promise<boolean> {
    const held = this.#requireHeld();
    return patiently(() => this.#store.start(held), this.#patience);
  }

  /** Another process answers the request: readers receive its frames, and no more frames are accepted here. */
  follow(source: FrameSource): void {
    this.#followed = source;
    this.#broken ??= LOST;
    this.#wakeReaders();
  }

  /** The whole answer, if it is complete, so that it can be recorded together with its request. */
  takeAnswer(): readonly FrameRow[] | undefined {
    if (this.#recording === undefined || !this.answered) return undefined;
    this.#taken = this.#takePending();
    return this.#taken.rows;
  }

  /** The request is on the disk, with the frames of `takeAnswer`. `held` is null when these were the whole answer. */
  recorded(held: Held | null): void {
    this.#held = held;
    if (this.#taken !== undefined) this.#land(this.#taken);
    this.#taken = undefined;
    this.#recording?.open();
    this.#recording = undefined;
  }

  /** The request will not be recorded with this answer, so no reader may see it. */
  abandon(reason: unknown): void {
    this.#broken = reason;
    this.#recording?.fail(reason);
    this.#wakeReaders();
  }

  async after(sequence: number): Promise<readonly FrameRow[]> {
    const next = sequence + 1;
    if (next >= this.#durable) await this.ready(sequence);
    if (this.#followed !== undefined) return this.#followed.after(sequence);
    if (next >= this.#durable) return [];
    return next >= this.#tailStart
      ? upTo(PAGE_BYTES, this.#tail, next - this.#tailStart)
      : this.#pages.read(this.key, { after: sequence });
  }

  async ready(sequence: number): Promise<void> {
    while (sequence + 1 >= this.#durable) {
      if (this.#followed !== undefined) return this.#followed.ready?.(sequence);
      if (this.#broken !== undefined) throw this.#broken;
      if (this.#ended) return;
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  async #flush(): Promise<void> {
    try {
      // Frames that an agent gives without waiting are one batch.
      await afterPromises();
      if (this.#recording !== undefined) await this.#recording.opened;
      while (this.#pending.length > 0) {
        const batch = this.#takePending();
        await this.#append(batch.rows);
        this.#land(batch);
      }
    } catch (error) {
      this.#broken = error;
      if (isNotHeld(error)) this.#onLost?.();
      this.#wakeReaders();
      throw error;
    } finally {
      this.#flushing = undefined;
    }
  }

  /** The frames of a batch are durable now: waiting readers may see them. */
  #land({ rows, size }: Batch): void {
    this.#keep(rows, size);
    this.#durable += rows.length;
    this.#ended = rows.at(-1)?.isFinal === true;
    this.#count(rows.length);
    this.#wakeReaders();
    if (this.#held !== null) this.#onLanded?.(this.#held.id, this.#durable, this.#ended);
  }

  #takePending(): Batch {
    const batch = { rows: this.#pending, size: this.#pendingSize };
    this.#pending = [];
    this.#pendingSize = 0;
    return batch;
  }

  #append(batch: readonly FrameRow[]): Promise<void> {
    const held = this.#requireHeld();
    return patiently(() => this.#store.append(held, batch), this.#patience);
  }

  #requireHeld(): Held {
    if (this.#held === null) throw new Error(`request ${this.key.requestId} is not held`);
    return this.#held;
  }

  #count(frames: number): void {
    this.#counts.frames += frames;
    if (this.#ended && this.#final !== undefined)
      this.#counts.finishRequest(outcomeOfFrame(this.#final), this.#agentId);
  }

  #keep(batch: readonly FrameRow[], size: number): void {
    this.#tailSize += size;
    for (const row of batch) this.#tail.push(row);
    if (this.#tailSize <= TAIL_LENGTH) return;
    // Half of the tail is dropped at once, because each drop copies the rest.
    let dropped = 0;
    for (; this.#tailSize > TAIL_LENGTH / 2 && dropped < this.#tail.length; dropped++) {
      this.#tailSize -= this.#tail[dropped]?.text.length ?? 0;
    }
    this.#tail = this.#tail.slice(dropped);
    this.#tailStart += dropped;
  }

  #wakeReaders(): void {
    const wake = this.#wake;
    this.#wake = [];
    for (const reader of wake) reader();
  }
}

export interface RunOptions {
  /**
   * Called when frames are on the disk. `next` is the sequence of the frame after them; `isOver` when the final one is
   * among them.
   */
  readonly onLanded?: ((request: number, next: number, isOver: boolean) => void) | undefined;
  /** Called when another process has claimed the request. */
  readonly onLost?: (() => void) | undefined;
  /** Called with every frame, once. */
  readonly onFrame?: ((frame: E2AResponse) => void) | undefined;
  readonly key: RequestKey;
  /** Null for a request that is being recorded while it is answered already: `recorded` or `abandon` must follow. */
  readonly held: Held | null;
  /** The agent that answers. */
  readonly agentId: string;
  readonly store: RequestStore;
  /** For readers that have fallen behind. */
  readonly pages: JournalPages;
  readonly counts: RunCounts;
  /** How long to try again when the store refuses. */
  readonly patience: Patience;
  /** The sequence to continue from, for a request that an earlier process began. Default: 0. */
  readonly from?: number;
}

/** Frames that are recorded together. */
interface Batch {
  readonly rows: readonly FrameRow[];
  readonly size: number;
}

/** Whether the frame changes how the request is listed: it starts, asks a question, continues after one, or ends. */
function changesProgress(frame: E2AResponse): boolean {
  const { is_final: isFinal, sequence, response_kind: kind } = frame;
  return isFinal || sequence === 0 || kind === 'acp.output_request' || questionEndIn(frame) !== undefined;
}

function changeBy(frame: E2AResponse): ProgressChange {
  const at = frame.timestamp === null ? null : Date.parse(frame.timestamp);
  return { at, end: frame.is_final ? answerEnd(frame) : undefined };
}

/** A promise that is resolved by `open` or rejected by `fail`. */
class Latch {
  open: () => void = () => {};
  fail: (reason: unknown) => void = () => {};
  readonly opened = new Promise<void>((resolve, reject) => {
    this.open = resolve;
    this.fail = reject;
  });

  constructor() {
    // Nothing may be waiting for it: its rejection must not be unhandled.
    this.opened.catch(() => {});
  }
}

/** The rows from `start` on that together have at most this many characters; at least one row. */
function upTo(length: number, rows: readonly FrameRow[], start: number): readonly FrameRow[] {
  let end = start;
  for (let taken = 0; end < rows.length; end++) {
    taken += rows[end]?.text.length ?? 0;
    if (taken > length && end > start) break;
  }
  return rows.slice(start, end);
}

/** Characters of an answer that stay in memory for readers that keep up. */
const TAIL_LENGTH = 1 << 20;
/** Characters that may wait for the disk before the agent has to wait, too. */
const MAX_PENDING = 256 * 1024;
