import type { Json, Outcome } from '@dragoman/protocols';
import type { AgentPart } from './agent.ts';

/** A frame received for a request, or the reason why no more will arrive. */
export type InboxArrival =
  | { readonly frame: Outcome<Json>; readonly bytes: number }
  | { readonly end: AgentPart; readonly bytes: 0 };

/** The frames received for one request and not read yet, in order, for one reader. */
export class Inbox {
  #arrivals: InboxArrival[] = [];
  #read = 0;
  #wake: (() => void) | undefined;
  #bytes = 0;
  #taken = 0;

  /** Bytes of frames not read yet. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The number of arrivals read so far. If it does not change, the reader has stopped. */
  get taken(): number {
    return this.#taken;
  }

  put(arrival: InboxArrival): void {
    this.#arrivals.push(arrival);
    this.#bytes += arrival.bytes;
    this.#wake?.();
  }

  /** Drops unread frames and ends with this part. */
  replace(end: AgentPart): void {
    this.#arrivals = [];
    this.#read = 0;
    this.#bytes = 0;
    this.put({ end, bytes: 0 });
  }

  /** Resolves with the next arrival; rejects with the signal's reason once it aborts. */
  async next(signal: AbortSignal): Promise<InboxArrival> {
    signal.throwIfAborted();
    while (this.#read === this.#arrivals.length) await this.#arrival(signal);
    const arrival = this.#arrivals[this.#read++] as InboxArrival;
    if (this.#read === this.#arrivals.length) {
      this.#arrivals = [];
      this.#read = 0;
    }
    this.#bytes -= arrival.bytes;
    this.#taken++;
    return arrival;
  }

  #arrival(signal: AbortSignal): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const abort = () => reject(signal.reason);
      signal.addEventListener('abort', abort, { once: true });
      this.#wake = () => {
        signal.removeEventListener('abort', abort);
        this.#wake = undefined;
        resolve();
      };
    });
  }
}
