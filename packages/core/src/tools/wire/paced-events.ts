import type { Clock } from '../../ports/ports.ts';
import { Backlog, type BacklogRoom } from './backlog.ts';
import type { WireSink } from './connection-parts.ts';
import type { WireRequest } from './wire-request.ts';

export interface PacedEventsOptions {
  readonly sink: WireSink;
  readonly clock: Clock;
  readonly room: BacklogRoom;
  /** Called when no event of the request waits any more. */
  readonly onThrough: (request: WireRequest) => void;
}

/** Sends the events of one connection's requests as fast as the peer reads; the rest waits. */
export class PacedEvents {
  readonly #options: PacedEventsOptions;
  readonly #backlog: Backlog;
  /** Since when the sink is full. `whenRead` is pending while this is set. */
  #fullSince: number | undefined;

  constructor(options: PacedEventsOptions) {
    this.#options = options;
    this.#backlog = new Backlog(options.room);
  }

  /** False if the event could neither be sent nor wait. */
  send(request: WireRequest, text: string): boolean {
    const { sink } = this.#options;
    if (this.#backlog.isEmpty && sink.isFull?.() !== true) sink.send(text);
    else if (this.#backlog.add(request, text)) this.#sendWaiting();
    else return false;
    return true;
  }

  /** Whether events of the request wait to be read. */
  isWaiting(request: WireRequest): boolean {
    return this.#backlog.has(request);
  }

  /** Milliseconds for which events have waited without the peer reading. */
  get unreadMs(): number {
    if (this.#fullSince === undefined || this.#backlog.isEmpty) return 0;
    return this.#options.clock.elapsed() - this.#fullSince;
  }

  /** Drops the waiting events of a request. */
  drop(request: WireRequest): void {
    this.#backlog.drop(request);
  }

  clear(): void {
    this.#backlog.clear();
  }

  /** Sends waiting events until the sink is full, and again when the peer has read. */
  #sendWaiting(): void {
    const { sink, clock, onThrough } = this.#options;
    while (!this.#backlog.isEmpty) {
      if (sink.isFull?.() === true) {
        if (this.#fullSince === undefined) sink.whenRead?.(this.#onRead);
        this.#fullSince ??= clock.elapsed();
        return;
      }
      const next = this.#backlog.shift();
      if (next === undefined) return;
      sink.send(next.text);
      if (!this.#backlog.has(next.request)) onThrough(next.request);
    }
  }

  readonly #onRead = (): void => {
    this.#fullSince = undefined;
    this.#sendWaiting();
  };
}
