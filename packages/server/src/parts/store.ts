import { mkdirSync } from 'node:fs';
import { isPostgresUrl, openMemoryStore, openPostgresStore, openSqliteStore, type Store } from '@dragoman/core';
import type { ServerPart } from './part.ts';
import type { OpeningOptions } from './server-options.ts';

export interface StorePart extends ServerPart {
  readonly store: Store;
}

/** Where everything durable is kept. */
export async function openStorePart(options: OpeningOptions): Promise<StorePart> {
  const store = await openStore(options);
  return { store, stop: () => store[Symbol.asyncDispose]() };
}

async function openStore({
  config,
  folder,
  log,
  acceptLoss = false,
  onFatal = () => {},
}: OpeningOptions): Promise<Store> {
  if (config.store === 'memory') return openMemoryStore();
  if (!isPostgresUrl(config.store)) return openSqliteStore({ folder, log, acceptLoss, onFatal });
  // For its keys and stored files.
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return openPostgresStore({ url: config.store, log, onFatal });
}
