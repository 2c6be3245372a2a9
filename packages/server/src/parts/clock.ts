import { type Clock, type Cluster, type Log, type Store, StoreClock } from '@dragoman/core';
import type { ServerPart } from './part.ts';

export interface ClockPart extends ServerPart {
  /** The clock for every decision of this server. */
  readonly clock: Clock;
}

/** The clock of the database, where several nodes share one; else that of this machine. */
export async function openClockPart(options: {
  readonly store: Store;
  readonly cluster: Cluster | undefined;
  readonly clock: Clock;
  readonly log: Log;
}): Promise<ClockPart> {
  const { store, cluster, clock, log } = options;
  const read = store.now?.bind(store);
  if (read === undefined) return { clock };
  const shared = await StoreClock.open({ read, clock, log });
  cluster?.listen({ beat: () => shared.look() });
  return { clock: shared };
}
