import { Backlog, type BacklogRoom } from './backlog.ts';
import type { WireSink } from './connection-parts.ts';
import type { WireRequest } from './wire-request.ts';

export interface PacedEventsOptions {
  readonly sink: WireSink;
  readonly room: BacklogRoom;
  /** Nothing that the request told waits any more. */
  readonly onThrough: (request: WireRequest) => void;
}

/** Sends what the requests of one connection tell, as fast as their peer reads; the rest waits. */
export class PacedEvents {
  readonly #options: PacedEventsOptions;
  readonly #backlog: Backlog;
  /** The sink will say when it has room. */
  #isWaiting = false;

  constructor(options: PacedEventsOptions) {
    this.#options = options;
    this.#backlog = new Backlog(options.room);
  }

  /** `false` when it is not sent, and there is no room for it to wait. */
  send(request: WireRequest, text: string): boolean {
    const { sink } = this.#options;
    if (this.#backlog.isEmpty && sink.isFull?.() !== true) sink.send(text);
    else if (this.#backlog.add(request, text)) this.#sendWaiting();
    else return false;
    return true;
  }

  /** Whether some of what the request told waits to be read. */
  isWaiting(request: WireRequest): boolean {
    return this.#backlog.has(request);
  }

  /** Nobody is to hear the rest of it. */
  drop(request: WireRequest): void {
    this.#backlog.drop(request);
  }

  clear(): void {
    this.#backlog.clear();
  }

  /** As much of what waits as the peer has room for; the rest when it has read that. */
  #sendWaiting(): void {
    const { sink, onThrough } = this.#options;
    while (!this.#backlog.isEmpty) {
      if (sink.isFull?.() === true) {
        if (!this.#isWaiting) sink.whenRead?.(this.#onRead);
        this.#isWaiting = true;
        return;
      }
      const next = this.#backlog.shift();
      if (next === undefined) return;
      sink.send(next.text);
      if (!this.#backlog.has(next.request)) onThrough(next.request);
    }
  }

  readonly #onRead = (): void => {
    this.#isWaiting = false;
    this.#sendWaiting();
  };
}
