import { useSignalEffect } from '@preact/signals';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { reconnections } from './connection.ts';

export interface Live<T> {
  /** `undefined` until it was read for the first time. */
  readonly data: T | undefined;
  /** Why the last reading failed. */
  readonly error: unknown;
  readonly isLoading: boolean;
  reload(): void;
}

/**
 * Reads something now, again when `dependencies` change, and again every `everyMs` while somebody looks. After a lost connection
 * it reads at once. What was read stays until the next reading is there.
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
  // A different item: the data of the previous one must not be shown for it.
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
