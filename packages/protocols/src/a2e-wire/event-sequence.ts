/**
 * Counts the events of each request from 0 (A2E wire, Message Ordering: `seq` is monotonic within its `req_id`).
 */
export class EventSequence {
  readonly #next = new Map<string, number>();

  next(reqId: string): number {
    const sequence = this.#next.get(reqId) ?? 0;
    this.#next.set(reqId, sequence + 1);
    return sequence;
  }

  /** Call this when the request has ended; its id may be used again. */
  forget(reqId: string): void {
    // Most requests have no events.
    if (this.#next.size > 0) this.#next.delete(reqId);
  }
}
