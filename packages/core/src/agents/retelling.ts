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
  let source: AsyncIterator<In> | undefined;
  let over = false;

  const stop = () => {
    over = true;
    try {
      Promise.resolve(source?.return?.()).catch(() => {});
    } catch {
      // Its own trouble: the answer is there.
    }
  };
  const take = (item: IteratorResult<In>): IteratorResult<Out> => {
    if (over) return DONE;
    try {
      if (item.done === true) {
        over = true;
        return { done: false, value: how.end(item.value) };
      }
      const value = how.item(item.value);
      if (how.isLast?.(value) === true) stop();
      return { done: false, value };
    } catch (error) {
      return fail(error);
    }
  };
  const fail = (error: unknown): IteratorResult<Out> => {
    stop();
    return { done: false, value: how.failed(error) };
  };

  return {
    async next() {
      if (over) return DONE;
      let item: IteratorResult<In>;
      try {
        source ??= open();
        item = await source.next();
      } catch (error) {
        return over ? DONE : fail(error);
      }
      return take(item);
    },
    async return() {
      if (!over) stop();
      return DONE;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };
