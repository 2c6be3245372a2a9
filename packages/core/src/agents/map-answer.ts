/** Maps the items of a source, and guarantees a last item. */
export interface AnswerMapping<In, Out> {
  /** Maps one item. An exception counts as a failure of the source. */
  item(item: In): Out;
  /** Whether this item is the last one, even if the source has more. */
  isLast?(item: Out): boolean;
  /** The last item when the source has ended, with its return value. */
  end(returned: unknown): Out;
  /** The last item when the source has failed. May throw instead. */
  failed(error: unknown): Out;
}

/**
 * Maps an answer item by item. It is an iterator class because an async generator needs more turns of the event loop
 * for each frame. After the last item the source is stopped but not awaited, because it may hang while it cleans up.
 */
export function mapAnswer<In, Out>(
  open: () => AsyncIterator<In>,
  how: AnswerMapping<In, Out>,
): AsyncIterableIterator<Out> {
  return new MappedAnswer(open, how);
}

class MappedAnswer<In, Out> implements AsyncIterableIterator<Out> {
  readonly #open: () => AsyncIterator<In>;
  readonly #how: AnswerMapping<In, Out>;
  #source: AsyncIterator<In> | undefined;
  #over = false;

  constructor(open: () => AsyncIterator<In>, how: AnswerMapping<In, Out>) {
    this.#open = open;
    this.#how = how;
  }

  async next(): Promise<IteratorResult<Out>> {
    if (this.#over) return DONE;
    let item: IteratorResult<In>;
    try {
      this.#source ??= this.#open();
      item = await this.#source.next();
    } catch (error) {
      return this.#over ? DONE : this.#fail(error);
    }
    return this.#take(item);
  }

  async return(): Promise<IteratorResult<Out>> {
    if (!this.#over) this.#stop();
    return DONE;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #take(item: IteratorResult<In>): IteratorResult<Out> {
    if (this.#over) return DONE;
    try {
      if (item.done === true) {
        this.#over = true;
        return { done: false, value: this.#how.end(item.value) };
      }
      const value = this.#how.item(item.value);
      if (this.#how.isLast?.(value) === true) this.#stop();
      return { done: false, value };
    } catch (error) {
      return this.#fail(error);
    }
  }

  #fail(error: unknown): IteratorResult<Out> {
    this.#stop();
    return { done: false, value: this.#how.failed(error) };
  }

  #stop(): void {
    this.#over = true;
    try {
      Promise.resolve(this.#source?.return?.()).catch(() => {});
    } catch {
      // An error while the source stops does not matter: the answer is complete.
    }
  }
}

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };
