import type { E2AResponse } from '@dragoman/protocols';

/**
 * The frames that an earlier process recorded of an answer that is given again. Frames are compared by what they
 * report, not by their sequence: steps that a workflow runs in parallel may end in another order.
 */
export class RecordedFrames {
  readonly #keyOf: (frame: E2AResponse) => string;
  readonly #left = new Map<string, number>();
  #count = 0;

  constructor(keyOf: (frame: E2AResponse) => string) {
    this.#keyOf = keyOf;
  }

  get count(): number {
    return this.#count;
  }

  add(frame: E2AResponse): void {
    const key = this.#keyOf(frame);
    this.#left.set(key, (this.#left.get(key) ?? 0) + 1);
    this.#count += 1;
  }

  /**
   * Whether the frame is recorded. Each recorded frame counts only once. The final frame of an unfinished request is
   * never recorded.
   */
  takes(frame: E2AResponse): boolean {
    if (this.#left.size === 0 || frame.is_final) return false;
    const key = this.#keyOf(frame);
    const left = this.#left.get(key);
    if (left === undefined) return false;
    if (left === 1) this.#left.delete(key);
    else this.#left.set(key, left - 1);
    return true;
  }
}
