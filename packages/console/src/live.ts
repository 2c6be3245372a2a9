import { useSignalEffect } from '@preact/signals';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { reconnections } from './connection.ts';

export interface Live<T> {
  /** `undefined` until the first result. */
  readonly data: T | undefined;
  /** The error of the last attempt. */
  readonly error: unknown;
  readonly isLoading: boolean;
  reload(): void;
}

/**
 * Reads data at once, when `dependencies` change, after a lost connection, and every `everyMs` while the page is
 * visible. Until a new result arrives, the previous one is shown.
 */
export function useLive<T>(
  read: (signal: AbortSignal) => Promise<T>,
  dependencies: readonly unknown[],
  everyMs?: number,
): Live<T> {
  const [state, setState] = useState<Omit<Live<T>, 'reload'>>({ data: undefined, error: undefined, isLoading: true });
  const [round, setRound] = useState(0);
  const latest = useRef(read);
  latest.current = read;
  const reload = useCallback(() => setRound((one) => one + 1), []);
  useSignalEffect(() => {
    if (reconnections.value > 0) reload();
  });
  // When the dependencies change, the data of the previous item must not be shown.
  useEffect(() => setState({ data: undefined, error: undefined, isLoading: true }), dependencies);
  useEffect(() => {
    const over = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const once = async () => {
      if (document.hidden && everyMs !== undefined) return again();
      try {
        const data = await latest.current(over.signal);
        if (!over.signal.aborted) setState({ data, error: undefined, isLoading: false });
      } catch (error) {
        if (!over.signal.aborted) setState(({ data }) => ({ data, error, isLoading: false }));
      }
      again();
    };
    const again = () => {
      if (everyMs !== undefined && !over.signal.aborted) timer = setTimeout(once, everyMs);
    };
    void once();
    return () => {
      over.abort();
      clearTimeout(timer);
    };
  }, [...dependencies, round, everyMs]);
  return { ...state, reload };
}
