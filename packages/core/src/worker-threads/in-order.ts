/** Delivers values in the order in which they are pushed: at once, unless an earlier value is still awaited. */
export class InOrder {
  #last: Promise<void> | undefined;

  /** Resolves when all values pushed so far are delivered; `undefined` when no value waits. */
  get waiting(): Promise<void> | undefined {
    return this.#last;
  }

  push<Value>(value: Value | Promise<Value>, deliver: (value: Value) => void): void {
    if (this.#last === undefined && !(value instanceof Promise)) {
      deliver(value);
      return;
    }
    const last = this.#follow(this.#last, value, deliver).finally(() => {
      if (this.#last === last) this.#last = undefined;
    });
    this.#last = last;
  }

  async #follow<Value>(
    before: Promise<void> | undefined,
    value: Value | Promise<Value>,
    deliver: (value: Value) => void,
  ): Promise<void> {
    await before;
    deliver(await value);
  }
}
