import { type E2AFrame, type E2AResponse, isFailed, type Json, textOfResult } from '@dragoman/protocols';
import { DragomanError, errorOfFrame } from './dragoman-error.ts';
import { type ResumableExchange, resumed } from './resumed.ts';

/**
 * The answer to one request. Iterate it for the frames as they arrive, or wait for `final()` or `text()`; all may be
 * mixed. Frames are read from the network no faster than they are consumed, by one reader at a time. If a reader leaves
 * early, the work continues, and the next reader continues where it stopped.
 */
export class StreamedAnswer implements AsyncIterable<E2AFrame> {
  readonly requestId: string;
  readonly #exchange: ResumableExchange;
  readonly #cancel: () => Promise<boolean>;
  #frames: AsyncGenerator<E2AResponse, void>;
  /** The first frame is fetched immediately, so that the request is sent before its answer is read. */
  #first: Promise<IteratorResult<E2AResponse, void>> | undefined;
  #reading: Promise<void> | undefined;
  readonly #text: string[] = [];
  #final: E2AFrame | undefined;
  #failure: unknown;

  constructor(exchange: ResumableExchange, cancel: () => Promise<boolean>) {
    this.requestId = exchange.requestId;
    this.#exchange = exchange;
    this.#cancel = cancel;
    this.#frames = resumed(exchange, exchange.envelope === undefined ? 'resume' : 'send');
    this.#first = this.#next();
    // A reader gets the error. Without a reader it must not be an unhandled rejection.
    this.#first.catch(() => {});
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<E2AFrame, void> {
    if (this.#reading !== undefined) throw new Error('this answer is being read already; one reader at a time');
    let over = () => {};
    this.#reading = new Promise((resolve) => {
      over = resolve;
    });
    try {
      while (this.#final === undefined) {
        const first = this.#first;
        this.#first = undefined;
        const item = await (first ?? this.#next());
        if (item.done === true) return;
        const isNew = item.value.sequence > (this.#exchange.has ?? -1);
        this.#note(item.value, isNew);
        if (isNew) yield item.value as E2AFrame;
      }
    } finally {
      this.#reading = undefined;
      this.#leave();
      over();
    }
  }

  /** The last frame, whether the answer succeeded or failed. */
  async final(): Promise<E2AFrame> {
    while (this.#final === undefined) {
      if (this.#reading !== undefined) await this.#reading;
      else for await (const _ of this);
    }
    return this.#final;
  }

  /** All text of the answer, or the text of its result when there were no chunks. Throws when the answer failed. */
  async text(): Promise<string> {
    const final = await this.final();
    if (isFailed(final)) throw errorOfFrame(final);
    return this.#text.length > 0 ? this.#text.join('') : (textOfResult(resultOf(final)) ?? '');
  }

  /** The result of the final frame. Throws if the answer failed. */
  async result(): Promise<Json> {
    const final = await this.final();
    if (isFailed(final)) throw errorOfFrame(final);
    return resultOf(final);
  }

  /** Cancels the work; the last frame is then `E2A.CANCELLED`. Returns `false` if it had ended already. */
  async cancel(): Promise<boolean> {
    const { backoff, signal, envelope } = this.#exchange;
    for (let pause = 20; this.#final === undefined; pause *= 2) {
      try {
        return await this.#cancel();
      } catch (error) {
        // The cancellation may overtake the request itself.
        const mayCome = envelope !== undefined && pause < CANCEL_PATIENCE_MS;
        if (!(error instanceof DragomanError && error.is('not_found') && mayCome)) throw error;
        if (this.#failure !== undefined) return false;
        await backoff.wait(pause, signal);
      }
    }
    return false;
  }

  async #next(): Promise<IteratorResult<E2AResponse, void>> {
    // A refusal is final. After a connection error, the next reader tries again.
    if (this.#failure instanceof DragomanError && !this.#failure.retryable) throw this.#failure;
    try {
      return await this.#frames.next();
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }

  #note(frame: E2AResponse, isNew: boolean): void {
    const { response_kind, body } = frame;
    const isText = response_kind === 'e2a.chunk' && body['delta_kind'] === 'text';
    if (isText && isNew && typeof body['delta'] === 'string') this.#text.push(body['delta']);
    if (frame.is_final) this.#final = frame as E2AFrame;
  }

  /** Closes the connection. A later reader resumes. */
  #leave(): void {
    void this.#frames.return().catch(() => {});
    if (this.#final === undefined) this.#frames = resumed(this.#exchange, 'resume');
  }
}

/** The result in a final frame. The body of a frame of another protocol is the result itself. */
function resultOf({ response_kind, body }: E2AResponse): Json {
  return response_kind === 'e2a.complete' ? (body['result'] ?? null) : body;
}

const CANCEL_PATIENCE_MS = 10_000;
