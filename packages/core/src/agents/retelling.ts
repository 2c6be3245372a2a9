/** How items are told in other words, with an end that always comes. */
export interface Retelling<In, Out> {
  /** One item. What it throws is a failure too. */
  item(item: In): Out;
  /** Whether nothing is to come after this one, whatever the source still has. */
  isLast?(told: Out): boolean;
  /** The last word when the source has ended, with what it returned. */
  end(returned: unknown): Out;
  /** The last word when the source has failed; or it throws. */
  failed(error: unknown): Out;
}

/**
 * An answer in other words. Written by hand, because every frame of every answer comes through two of them and an async
 * generator takes three turns of the queue for what is one here. The source is told to stop, and not waited for: one that
 * hangs while it cleans up has given its answer all the same.
 */
export function retold<In, Out>(open: () => AsyncIterator<In>, how: Retelling<In, Out>): AsyncIterableIterator<Out> {
  return new Retold(open, how);
}

class Retold<In, Out> implements AsyncIterableIterator<Out> {
  readonly #open: () => AsyncIterator<In>;
  readonly #how: Retelling<In, Out>;
  #source: AsyncIterator<In> | undefined;
  #over = false;

  constructor(open: () => AsyncIterator<In>, how: Retelling<In, Out>) {
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
      // Its own trouble: the answer is there.
    }
  }
}

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };
