import type { Clock } from '../ports/ports.ts';

export interface DrainedOptions {
  readonly clock: Clock;
  /** How long the work may take. 0: it is ended at once. */
  readonly drainMs: number;
  /** Resolves when nothing runs any more. */
  readonly over: () => Promise<unknown>;
  /** Ends what still runs. */
  readonly end: () => void;
}

/** Lets running work finish for `drainMs`, then ends it. Resolves when nothing runs any more. */
export async function drained({ clock, drainMs, over, end }: DrainedOptions): Promise<void> {
  const isOver = over();
  if (drainMs <= 0) end();
  const cancel = clock.after(drainMs, end);
  await isOver;
  cancel();
}
