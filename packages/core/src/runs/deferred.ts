/** An iterable whose source is found later: `find` runs when the first item is requested, and returns the source of all items. */
export function deferred<T>(find: () => Promise<AsyncIterable<T>>): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      let found: AsyncIterator<T> | undefined;
      const next = async (): Promise<IteratorResult<T>> => {
        found = (await find())[Symbol.asyncIterator]();
        return found.next();
      };
      return {
        next: () => (found === undefined ? next() : found.next()),
        return: async () => (await found?.return?.()) ?? { done: true, value: undefined },
      };
    },
  };
}
