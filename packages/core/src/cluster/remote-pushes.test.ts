import { expect, test } from 'vitest';
import { SilentLog } from '../../test-support/silent-log.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import type { Pushes } from '../pushes/pushes.ts';
import type { Cluster } from './cluster.ts';
import { RemotePushes } from './remote-pushes.ts';

test('a node has listeners until it has not said so for as long as a node may be silent', async () => {
  const clock = new TestClock();
  const hearers = new Map<string, (rest: readonly string[]) => void>();
  const pushes = { join: () => {}, hasListeners: false } as unknown as Pushes;
  const cluster = {
    ttlMs: 60_000,
    words: { hear: (word: string, hearer: (rest: readonly string[]) => void) => hearers.set(word, hearer) },
    calls: { serve: () => {} },
    listen: () => {},
  } as unknown as Cluster;
  const store = { node: 1, others: async () => [2] };
  const remote = new RemotePushes({ store, pushes, cluster, clock, log: new SilentLog() });
  hearers.get('listens')?.(['2']);
  clock.pass(45_000);
  await remote.beat();
  expect(remote.hasListeners).toBe(true);
  clock.pass(16_000);
  await remote.beat();
  expect(remote.hasListeners).toBe(false);
});
