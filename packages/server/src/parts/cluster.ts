import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Cluster, isPostgresUrl, type Store } from '@dragoman/core';
import { adminNodesRoute } from '../routes/admin-nodes.ts';
import { readyRoute } from '../routes/ready.ts';
import type { ServerPart } from './part.ts';
import type { OpeningOptions } from './server-options.ts';

export interface ClusterPart extends ServerPart {
  /** Absent where one process owns the store. */
  readonly cluster: Cluster | undefined;
  /** Must be the last part: a stop notifies the other nodes and the load balancer first. */
  readonly farewell: ServerPart;
}

/**
 * This node's membership in the cluster. It sends beats from the opening of the store until every other part has
 * stopped.
 */
export function openClusterPart({ config, folder, store, clock, log }: OpeningOptions & { store: Store }): ClusterPart {
  const { ttl_ms: ttlMs, grace_ms: graceMs, beat_ms: beatMs } = config.cluster;
  const cluster = store.cluster && new Cluster({ store: store.cluster, clock, log, ttlMs, graceMs, beatMs });
  const hasFile = config.store !== 'memory' && !isPostgresUrl(config.store);
  // A server whose database file was removed would lose what it writes.
  const isStored = () => !hasFile || existsSync(join(folder, 'dragoman.db'));
  let isStarted = false;
  let isLeaving = false;
  cluster?.start();
  return {
    cluster,
    routes: [
      readyRoute(() => isStarted && !isLeaving && cluster?.isFenced !== true && isStored()),
      adminNodesRoute(store.cluster, { ttlMs }),
    ],
    stop: async () => cluster?.stop(),
    farewell: {
      start: async () => {
        isStarted = true;
      },
      drain: async () => {
        isLeaving = true;
        await cluster?.leave();
      },
    },
  };
}
