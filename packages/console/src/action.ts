import { useState } from 'preact/hooks';

export interface Action {
  /** The error of the last attempt. */
  readonly trouble: unknown;
  readonly isBusy: boolean;
  act(work: () => Promise<unknown>): Promise<void>;
}

/** The action of a button, which takes time and may fail. */
export function useAction(): Action {
  const [trouble, setTrouble] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const act = async (work: () => Promise<unknown>) => {
    setBusy(true);
    setTrouble(undefined);
    try {
      await work();
    } catch (error) {
      setTrouble(error);
    }
    setBusy(false);
  };
  return { trouble, isBusy, act };
}
