import { type Cluster, FamilyChanges, type Log, type Store } from '@dragoman/core';
import type { ServerPart } from './part.ts';
import type { Parts } from './parts.ts';

/** Takes over the changes of other nodes. Must be opened before anything reads the store. */
export async function openFamiliesPart(options: {
  readonly store: Store;
  readonly cluster: Cluster | undefined;
  readonly parts: Pick<Parts, 'families'>;
  readonly log: Log;
}): Promise<ServerPart> {
  const { store, cluster, parts, log } = options;
  if (store.families === undefined) return {};
  const changes = await FamilyChanges.open({ store: store.families, log });
  return {
    start: async () => {
      for (const [family, reload] of parts.families) changes.on(family, reload);
      cluster?.listen({ beat: () => changes.check() });
    },
  };
}
