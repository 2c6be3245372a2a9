/**
 * The items of `source` until the signal aborts, then its reason as an error: also when the source hangs and never looks
 * at the signal. The source is told to stop, and not waited for.
 */
export async function* untilAborted<T>(
  source: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T, void, undefined> {
  const iterator = source[Symbol.asyncIterator]();
  // One slot for whoever waits now: a promise that every item is raced against would remember every item.
  let reject: (reason: unknown) => void = () => {};
  const stop = () => reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  let ended = false;
  try {
    for (;;) {
      const item = await new Promise<IteratorResult<T>>((resolve, rejectNext) => {
        reject = rejectNext;
        if (signal.aborted) stop();
        else iterator.next().then(resolve, rejectNext);
      });
      if (item.done === true) {
        ended = true;
        return;
      }
      yield item.value;
    }
  } finally {
    signal.removeEventListener('abort', stop);
    if (!ended) Promise.resolve(iterator.return?.()).catch(() => {});
  }
}

/** What the promise gives, or the reason of the signal as an error when that comes first. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
