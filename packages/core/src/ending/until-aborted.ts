import type { StopSignal } from './ending.ts';

/**
 * The items of `source` until the signal aborts, then its reason as an error, even if the source hangs and never looks at
 * the signal. The source is closed, without waiting for it.
 */
export async function* untilAborted<T>(
  source: AsyncIterable<T>,
  signal: StopSignal,
): AsyncGenerator<T, void, undefined> {
  const iterator = source[Symbol.asyncIterator]();
  let ended = false;
  try {
    for (;;) {
      if (signal.aborted) throw signal.reason;
      const item = await unlessAborted(iterator.next(), signal);
      if (item.done === true) {
        ended = true;
        return;
      }
      yield item.value;
    }
  } finally {
    if (!ended) Promise.resolve(iterator.return?.()).catch(() => {});
  }
}

/** Settles like the promise, or throws the reason of the signal when it aborts first, even if the promise never settles. */
export function unlessAborted<T>(promise: Promise<T>, signal: StopSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    promise.then(
      (value) => {
        signal.removeEventListener('abort', stop);
        resolve(value);
      },
      (error: unknown) => {
        signal.removeEventListener('abort', stop);
        reject(error);
      },
    );
  });
}
