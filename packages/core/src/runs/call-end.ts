/** Whether a running call has to end, and why: for those who wait and for those who ask. */
export class CallEnd {
  #reason: Error | undefined;
  #controller: AbortController | undefined;
  #reject: ((reason: Error) => void) | undefined;

  /** Made when somebody asks for it: a signal costs as much as a frame, and most agents never look at theirs. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** The first reason counts. */
  end(reason: Error): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#controller?.abort(reason);
    this.#reject?.(reason);
  }

  /**
   * What the promise gives, or the reason as an error when that comes first: also when the promise never settles. Wait for
   * one before the next.
   */
  unlessEnded<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      promise.then(resolve, reject);
      this.#reject = reject;
      if (this.#reason !== undefined) reject(this.#reason);
    });
  }
}
