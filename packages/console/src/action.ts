import { useState } from 'preact/hooks';

export interface Action {
  /** Why the last try failed. */
  readonly trouble: unknown;
  readonly isBusy: boolean;
  act(work: () => Promise<unknown>): Promise<void>;
}

/** Something that a button does: it can be under way, and it can fail. */
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
