import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { isPostgresUrl, openMemoryStore, openPostgresStore, openSqliteStore, type Store } from '@dragoman/core';
import { VERSION } from '../version.ts';
import type { ServerPart } from './part.ts';
import type { OpeningOptions } from './server-options.ts';

export interface StorePart extends ServerPart {
  readonly store: Store;
}

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
  // The folder has this node's keys and stored files.
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { name = hostname(), direct_url: directUrl, peer_url: peerUrl } = config.cluster;
  const configDigest = digestOf(config);
  const place = `${hostname()}:${resolve(folder)}`;
  return openPostgresStore({ url: config.store, log, version: VERSION, name, place, configDigest, peerUrl, directUrl });
}

/**
 * A digest of the configuration, without a node's own name and addresses. Nodes of a cluster should have the same one.
 */
export function digestOf(config: OpeningOptions['config']): string {
  const shared = JSON.stringify({ ...config, cluster: undefined, host: undefined, port: undefined });
  return createHash('sha256').update(shared).digest('hex').slice(0, 16);
}
