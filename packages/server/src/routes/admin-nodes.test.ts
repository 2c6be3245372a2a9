import type { ClusterStore } from '@dragoman/core';
import { expect, test } from 'vitest';
import type { InboundRequest } from '../http/route.ts';
import { adminNodesRoute } from './admin-nodes.ts';

const NODE = {
  id: 1,
  name: 'one',
  version: '1',
  state: 'live',
  isSelf: false,
  startedAt: 0,
  beatAt: 0,
  skewMs: 0,
  configDigest: 'a',
  peerUrl: null,
  holds: { requests: 0, executions: 0, letters: 0, deliveries: 0 },
};
const DATABASE = { version: '18', schemaVersion: 1, synchronousCommit: 'on', synchronousStandbys: '', standbys: 0 };

test.each([
  [10_000, 4_000, []],
  [10_000, 6_000, ['Node one (1) has been silent for 6 s.']],
  [60_000, 20_000, []],
  [60_000, 40_000, ['Node one (1) has been silent for 40 s.']],
])(
  'with a time to live of %d ms, a node that is silent for %d ms gives the warnings %j',
  async (ttlMs, silentMs, messages) => {
    const cluster = { nodes: async () => [{ ...NODE, silentMs }], database: async () => DATABASE };
    const { handle } = adminNodesRoute(cluster as unknown as ClusterStore, { ttlMs });
    const warnings = messages.map((message) => expect.objectContaining({ code: 'node_silent', message }));
    expect(await handle({} as InboundRequest)).toMatchObject({ json: { warnings } });
  },
);
