import type { Worker } from 'node:worker_threads';
import type { Cancel, Clock, Log } from '../ports/ports.ts';
import { startThread } from '../worker-threads/start-thread.ts';
import type { Embedder } from './embedder.ts';
import type { FromEmbeddingThread, ToEmbeddingThread } from './embedding-messages.ts';

export interface ThreadEmbedderOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** How long the thread is kept after its last work. Default: a minute. */
  readonly idleMs?: number;
  /** Starts the thread. Default: the thread with the encoder. */
  readonly start?: () => Worker;
}

/**
 * The built-in sentence encoder, in a separate thread. It needs no key and no network.
 *
 *   absent ──search─▶ starting ──▶ ready ──idle──▶ absent
 *                        └──▶ missing: its packages are not installed, and it is not tried again
 */
export class ThreadEmbedder implements Embedder {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #idleMs: number;
  readonly #start: () => Worker;
  readonly #pending = new Map<number, Pending>();
  readonly #listeners: (() => void)[] = [];
  readonly #waiting: ((isReady: boolean) => void)[] = [];
  #state: 'absent' | 'starting' | 'ready' | 'missing' = 'absent';
  #worker: Worker | undefined;
  #cancelIdle: Cancel = () => {};
  #lastId = 0;

  constructor({ clock, log, idleMs = 60_000, start = startEncoder }: ThreadEmbedderOptions) {
    this.#clock = clock;
    this.#log = log;
    this.#idleMs = idleMs;
    this.#start = start;
  }

  isReady(): boolean {
    if (this.#state === 'absent') this.#begin();
    return this.#state === 'ready';
  }

  whenReady(): Promise<boolean> {
    if (this.isReady() || this.#state === 'missing') return Promise.resolve(this.#state === 'ready');
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  onReady(listener: () => void): void {
    this.#listeners.push(listener);
  }

  embed(texts: readonly string[]): Promise<readonly Float32Array[]> {
    const worker = this.#worker;
    if (worker === undefined || this.#state !== 'ready') return Promise.reject(new Error('the encoder is not ready'));
    this.#lastId += 1;
    const message: ToEmbeddingThread = { id: this.#lastId, texts };
    this.#cancelIdle();
    return new Promise((resolve, reject) => {
      this.#pending.set(message.id, { resolve, reject });
      worker.postMessage(message);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listeners.length = 0;
    await this.#end();
    this.#state = 'missing';
  }

  #begin(): void {
    this.#state = 'starting';
    const worker = this.#start();
    this.#worker = worker;
    worker.unref();
    worker.on('message', (message: FromEmbeddingThread) => this.#receive(message));
    worker.on('error', (error) => this.#miss(error.message));
    worker.on('exit', () => {
      if (this.#worker === worker) this.#miss('its thread ended by itself');
    });
  }

  #receive(message: FromEmbeddingThread): void {
    if (message.kind === 'missing') {
      this.#miss(message.message);
      return;
    }
    if (message.kind === 'ready') {
      this.#state = 'ready';
      this.#waitIdle();
      this.#answerWaiting(true);
      for (const listener of this.#listeners) listener();
      return;
    }
    const pending = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if (message.kind === 'vectors') pending?.resolve(message.vectors);
    else pending?.reject(new Error(message.message));
    if (this.#pending.size === 0) this.#waitIdle();
  }

  #answerWaiting(isReady: boolean): void {
    for (const answer of this.#waiting.splice(0)) answer(isReady);
  }

  #waitIdle(): void {
    this.#cancelIdle();
    this.#cancelIdle = this.#clock.after(this.#idleMs, () => void this.#end());
  }

  /** A missing encoder is not retried: the search uses words only and reports that. */
  #miss(message: string): void {
    this.#log.warn({ reason: message }, 'search uses words only: the sentence encoder could not be loaded');
    void this.#end();
    this.#state = 'missing';
  }

  async #end(): Promise<void> {
    this.#cancelIdle();
    const worker = this.#worker;
    this.#worker = undefined;
    this.#state = 'absent';
    this.#answerWaiting(false);
    for (const { reject } of this.#pending.values()) reject(new Error('the encoder has ended'));
    this.#pending.clear();
    await worker?.terminate();
  }
}

interface Pending {
  readonly resolve: (vectors: readonly Float32Array[]) => void;
  readonly reject: (error: Error) => void;
}

function startEncoder(): Worker {
  return startThread('embedding-thread', { name: 'dragoman encoder' });
}
