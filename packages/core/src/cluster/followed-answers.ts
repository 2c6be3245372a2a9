import type { JournalPages } from '../runs/journal-pages.ts';
import { requestName } from '../runs/live-request.ts';
import type { FrameSource } from '../runs/reading.ts';
import type { ClusterStore, OpenRequest } from '../store/cluster.ts';
import type { FrameRow, RequestKey } from '../store/store.ts';
import type { Words } from './words.ts';

export interface FollowedAnswersOptions {
  readonly store: Pick<ClusterStore, 'node' | 'openRequest' | 'openRequests'>;
  readonly words: Words;
  readonly pages: JournalPages;
}

/**
 * Answers that another node records and that have readers here. The frames are read from the journal; the node that answers sends a word when
 * there are more. If no word arrives, the journal is checked with each beat.
 */
export class FollowedAnswers {
  readonly #options: FollowedAnswersOptions;
  readonly #byName = new Map<string, Followed>();
  readonly #byNumber = new Map<number, Followed>();

  constructor(options: FollowedAnswersOptions) {
    this.#options = options;
    options.words.hear('frames', ([request, next]) => {
      const followed = this.#byNumber.get(Number(request));
      if (followed !== undefined) this.#move(followed, next === 'end' ? undefined : Number(next));
    });
  }

  follow(key: RequestKey, signal?: AbortSignal): FrameSource {
    return new FollowedAnswer({
      key,
      signal,
      pages: this.#options.pages,
      more: (sequence) => this.#more(key, sequence, signal),
    });
  }

  /** Checks the store: words may be lost, and nodes too. */
  async look(): Promise<void> {
    for (const followed of this.#byNumber.values()) {
      // Its reader is gone, or asks again.
      if (followed.waiting.size === 0) this.#forget(followed);
    }
    const numbers = [...this.#byNumber.keys()];
    if (numbers.length === 0) return;
    const open = new Map((await this.#options.store.openRequests(numbers)).map((one) => [one.request, one]));
    for (const request of numbers) {
      const followed = this.#byNumber.get(request);
      if (followed === undefined) continue;
      const now = open.get(request);
      if (now !== undefined && now.holder !== followed.holder) {
        followed.holder = now.holder;
        this.#watch(followed);
      }
      this.#move(followed, now?.next);
    }
  }

  /** Resolves when there may be frames after this one. True when all frames are recorded. */
  async #more(key: RequestKey, sequence: number, signal: AbortSignal | undefined): Promise<boolean> {
    const name = requestName(key);
    while (signal?.aborted !== true) {
      const followed = this.#byName.get(name) ?? (await this.#entered(name, key));
      if (followed === undefined) return true;
      if (followed.next > sequence + 1) return false;
      await woken(followed, signal);
      if (followed.isOver) return true;
    }
    return true;
  }

  /** `undefined` when no node answers it. */
  async #entered(name: string, key: RequestKey): Promise<Followed | undefined> {
    const open = await this.#options.store.openRequest(key);
    if (open === undefined) return undefined;
    const there = this.#byName.get(name);
    if (there !== undefined) return there;
    const followed: Followed = { ...open, name, isOver: false, waiting: new Set() };
    this.#byName.set(name, followed);
    this.#byNumber.set(open.request, followed);
    this.#watch(followed);
    return followed;
  }

  #watch({ holder, request }: Followed): void {
    this.#options.words.send(holder, 'watch', request, this.#options.store.node);
  }

  /** `undefined`: it is over. */
  #move(followed: Followed, next: number | undefined): void {
    if (next === undefined) {
      followed.isOver = true;
      this.#forget(followed);
    } else if (next <= followed.next) return;
    else followed.next = next;
    const { waiting } = followed;
    followed.waiting = new Set();
    for (const wake of waiting) wake();
  }

  #forget(followed: Followed): void {
    this.#byName.delete(followed.name);
    this.#byNumber.delete(followed.request);
    if (!followed.isOver)
      this.#options.words.send(followed.holder, 'unwatch', followed.request, this.#options.store.node);
  }
}

interface Followed extends Omit<OpenRequest, 'holder' | 'next'> {
  readonly name: string;
  holder: number;
  next: number;
  isOver: boolean;
  waiting: Set<() => void>;
}

interface FollowedAnswerOptions {
  readonly key: RequestKey;
  readonly signal: AbortSignal | undefined;
  readonly pages: JournalPages;
  readonly more: (sequence: number) => Promise<boolean>;
}

/** One reader of an answer of another node. */
class FollowedAnswer implements FrameSource {
  readonly #options: FollowedAnswerOptions;
  #hasRead = false;
  #isOver = false;

  constructor(options: FollowedAnswerOptions) {
    this.#options = options;
  }

  async after(sequence: number): Promise<readonly FrameRow[]> {
    const { key, signal, pages } = this.#options;
    for (;;) {
      // The answer may be complete, so it is read at once; after that only when there is more.
      if (this.#hasRead) await this.ready(sequence);
      this.#hasRead = true;
      const isOver = this.#isOver;
      const rows = await pages.read(key, { after: sequence, signal });
      if (rows.length > 0 || isOver || signal?.aborted === true) return rows;
    }
  }

  async ready(sequence: number): Promise<void> {
    if (!this.#isOver) this.#isOver = await this.#options.more(sequence);
  }
}

/** Resolves when there is more of it, or when the reader leaves. */
function woken(followed: Followed, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      followed.waiting.delete(wake);
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    followed.waiting.add(wake);
    signal?.addEventListener('abort', wake, { once: true });
  });
}
