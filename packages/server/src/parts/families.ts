import { type Clock, FamilyChanges, type Log, type Store } from '@dragoman/core';
import type { ServerPart } from './part.ts';
import type { Parts } from './parts.ts';

/** Takes over what other nodes have changed. To be opened before anything reads the store; a store of one process has no other nodes. */
export async function openFamiliesPart(options: {
  readonly store: Store;
  readonly parts: Pick<Parts, 'families'>;
  readonly clock: Clock;
  readonly log: Log;
}): Promise<ServerPart> {
  const { store, parts, clock, log } = options;
  if (store.families === undefined) return {};
  const changes = await FamilyChanges.open({ store: store.families, log });
  const stopped = new AbortController();
  const look = async () => {
    for (;;) {
      await clock.wait(LOOK_MS, stopped.signal);
      await changes.check().catch((error) => log.warn({ error: String(error) }, 'other nodes could not be looked at'));
    }
  };
  let looking = Promise.resolve();
  return {
    start: async () => {
      for (const [family, reload] of parts.families) changes.on(family, reload);
      looking = look().catch(() => {});
    },
    drain: async () => {
      stopped.abort();
      await looking;
    },
  };
}

const LOOK_MS = 1000;
