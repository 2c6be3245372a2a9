import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import {
  accept,
  failure,
  type Json,
  type JsonLimits,
  LONG_TEXT,
  type Outcome,
  parseJson,
  parseJsonBytes,
  reject,
} from '@dragoman/protocols';
import { Refused } from '../refusals/refused.ts';
import { stringOf } from '../text/long-text.ts';
import type { FromJsonThread, MessageChecked, ToJsonThread } from './json-thread.ts';
import { startThread } from './start-thread.ts';

export interface JsonReaderOptions {
  /** Longer sources are checked in the thread. */
  readonly smallBytes?: number;
  /** Bytes of one caller that may wait for the thread. Default: 32 MiB. */
  readonly maxPerCaller?: number;
  /** Bytes of all callers together that may wait. Default: 128 MiB. */
  readonly maxWaiting?: number;
}

export interface JsonReadOptions {
  readonly limits?: JsonLimits | undefined;
  /** Callers take turns in the thread. */
  readonly caller: string;
  /**
   * Whether the text waits however much is waiting already: for callers that send the next text only after this one was
   * read. If the thread fails, the read then reports an issue instead of rejecting. Default: false.
   */
  readonly waits?: boolean;
}

/**
 * Reads JSON of peers. Small texts are read at once. Long ones are checked in a thread, one at a time, so that the
 * event loop only has to build a value whose size the check has limited. The thread starts with the first long text.
 */
export class JsonReader {
  readonly #smallBytes: number;
  readonly #maxPerCaller: number;
  readonly #maxWaiting: number;
  #worker: Worker | undefined;
  /** By caller, the one whose turn is next first. */
  readonly #waiting = new Map<string, Job[]>();
  readonly #bytes = new Map<string, number>();
  #allBytes = 0;
  #current: Job | undefined;
  /** Whether the next job will start in the next turn of the event loop. */
  #isDue = false;
  #isClosed = false;

  constructor({
    smallBytes = LONG_TEXT,
    maxPerCaller = 32 * MEBIBYTE,
    maxWaiting = 128 * MEBIBYTE,
  }: JsonReaderOptions = {}) {
    this.#smallBytes = smallBytes;
    this.#maxPerCaller = maxPerCaller;
    this.#maxWaiting = maxWaiting;
  }

  /** Whether a text is checked in the thread. */
  isLong(source: Uint8Array | string): boolean {
    return source.length > this.#smallBytes;
  }

  /** Reads strict JSON. Rejects with `busy` when too much is waiting for the thread. */
  read(source: Uint8Array | string, options: JsonReadOptions): Outcome<Json> | Promise<Outcome<Json>> {
    if (!this.isLong(source)) {
      const { limits } = options;
      return typeof source === 'string' ? parseJson(source, limits) : parseJsonBytes(source, limits);
    }
    return this.#readLong(source, options);
  }

  /** Checks an A2A message in the thread: its form, and the bytes that its signature covers. */
  async checkMessage(source: Uint8Array | string, now: Date, options: JsonReadOptions): Promise<MessageChecked> {
    return (await this.#ask(source, options, now)) as MessageChecked;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    const jobs = [this.#current, ...[...this.#waiting.values()].flat()];
    this.#waiting.clear();
    this.#current = undefined;
    for (const job of jobs) job?.reject(new Refused(failure('interrupted')));
    await this.#worker?.terminate();
  }

  async #readLong(source: Uint8Array | string, options: JsonReadOptions): Promise<Outcome<Json>> {
    const checked = await this.#ask(source, options).catch((error: Error) => {
      if (options.waits !== true) throw error;
      return { issues: [{ pointer: '', code: 'unread', message: `it could not be read: ${error.message}` }] };
    });
    return 'issues' in checked ? reject(...checked.issues) : accept(await parseChecked(source));
  }

  #ask(
    source: Uint8Array | string,
    { limits = {}, caller, waits = false }: JsonReadOptions,
    now?: Date,
  ): Promise<FromJsonThread> {
    const { length } = source;
    const bytes = (this.#bytes.get(caller) ?? 0) + length;
    const isFull = bytes > this.#maxPerCaller || this.#allBytes + length > this.#maxWaiting;
    // When no other text waits, one of any size is accepted.
    if (this.#isClosed || (isFull && !waits && this.#allBytes > 0)) {
      return Promise.reject(new Refused(failure('busy', { retry_after: 1 }, BUSY)));
    }
    this.#bytes.set(caller, bytes);
    this.#allBytes += length;
    return new Promise<FromJsonThread>((resolve, reject) => {
      const jobs = this.#waiting.get(caller);
      const job = { source, limits, caller, now: now?.getTime(), resolve, reject };
      if (jobs === undefined) this.#waiting.set(caller, [job]);
      else jobs.push(job);
      if (this.#current === undefined) this.#startNext();
    });
  }

  /**
   * Starts the next job in the next turn of the event loop, because receiving a long text was enough work for this
   * turn.
   */
  #startNext(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      this.#next();
    });
  }

  /**
   * Sends the next job to the thread. Only one job is there at a time, so that waiting texts are not copied before
   * their turn.
   */
  #next(): void {
    const [entry] = this.#waiting;
    this.#current = undefined;
    if (entry === undefined) {
      this.#worker?.unref();
      return;
    }
    const [caller, jobs] = entry;
    const job = jobs.shift();
    this.#waiting.delete(caller);
    if (jobs.length > 0) this.#waiting.set(caller, jobs);
    if (job === undefined) return;
    this.#current = job;
    this.#worker ??= this.#start();
    this.#worker.ref();
    const { limits, now } = job;
    const source = typeof job.source === 'string' ? job.source : new Uint8Array(job.source);
    const message: ToJsonThread = { source, limits, now };
    this.#worker.postMessage(message, typeof source === 'string' ? [] : [source.buffer]);
  }

  #start(): Worker {
    const worker = startThread('json-thread', {
      name: 'dragoman json',
      ...(import.meta.url.endsWith('.ts') && { execArgv: ['--conditions=dragoman:source'] }),
    });
    worker.on('message', (checked: FromJsonThread) => this.#settle((job) => job.resolve(checked)));
    // Reading the text that the thread failed on rejects; the next text gets a new thread.
    worker.on('error', (error) => {
      this.#worker = undefined;
      this.#settle((job) => job.reject(error));
    });
    return worker;
  }

  #settle(report: (job: Job) => void): void {
    const job = this.#current;
    if (job === undefined) return;
    const { caller, source } = job;
    const left = (this.#bytes.get(caller) ?? 0) - source.length;
    if (left > 0) this.#bytes.set(caller, left);
    else this.#bytes.delete(caller);
    this.#allBytes -= source.length;
    report(job);
    this.#next();
  }
}

/** Parses a text that the thread has found to be valid. Other work has its turn before and after the parsing. */
export async function parseChecked(source: Uint8Array | string): Promise<Json> {
  const text = await stringOf(typeof source === 'string' ? source : { parts: [source] });
  await nextTurn();
  const value = JSON.parse(text) as Json;
  await nextTurn();
  return value;
}

interface Job extends Pick<ToJsonThread, 'source' | 'limits' | 'now'> {
  readonly caller: string;
  readonly resolve: (checked: FromJsonThread) => void;
  readonly reject: (error: Error) => void;
}

const MEBIBYTE = 1024 * 1024;
const BUSY = 'Too many large messages are waiting to be read; try again later.';
