import { openMemoryStore, openSqliteStore, type Store } from '@dragoman/core';
import type { ServerPart } from './part.ts';
import type { OpeningOptions } from './server-options.ts';

export interface StorePart extends ServerPart {
  readonly store: Store;
}

/** Where everything durable is kept. */
export async function openStorePart(options: OpeningOptions): Promise<StorePart> {
  const { config, folder, log, acceptLoss = false, onFatal = () => {} } = options;
  const store =
    config.store === 'memory' ? await openMemoryStore() : await openSqliteStore({ folder, log, acceptLoss, onFatal });
  return { store, stop: () => store[Symbol.asyncDispose]() };
}
