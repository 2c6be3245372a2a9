/** Hands values on in the order they were given: at once, as long as none before them is waited for. */
export class InOrder {
  #last: Promise<void> | undefined;

  /** Resolves when everything given so far was handed on; `undefined` when nothing waits. */
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
