import type { Json } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import { SilentLog } from '../../test-support/silent-log.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import type { Runs } from '../runs/runs.ts';
import type { ClusterStore } from '../store/cluster.ts';
import { requestRow } from '../store/requests.contract.ts';
import type { Cluster } from './cluster.ts';
import { RemoteRuns } from './remote-runs.ts';

const KEY = { owner: 'ann', requestId: 'r1' };

function setUp() {
  const clock = new TestClock();
  const methods = new Map<string, (params: Json) => Promise<Json>>();
  const remote = new RemoteRuns({
    store: {} as ClusterStore,
    runs: { join: () => {}, table: {} } as unknown as Runs,
    cluster: {
      words: { hear: () => {} },
      calls: {
        serve: (method: string, answer: (params: Json) => Promise<Json>) => methods.set(method, answer),
        ask: () => Promise.reject(new Error('the database is away')),
      },
      listen: () => {},
    } as unknown as Cluster,
    vault: { seal: async (text) => text, unseal: async (sealed) => sealed },
    clock,
    log: new SilentLog(),
  });
  return { clock, methods, remote };
}

test('credentials for a request to come are kept for a minute, since they were last given', async () => {
  const { clock, methods, remote } = setUp();
  const give = (token: string) => methods.get('runs.auth')?.({ ...KEY, sealed: JSON.stringify({ token }) });
  await give('first');
  clock.pass(50_000);
  await give('second');
  clock.pass(20_000);
  expect(remote.takeAuth(KEY)).toEqual({ token: 'second' });
  expect(remote.takeAuth(KEY)).toBeUndefined();
  await give('third');
  clock.pass(61_000);
  expect(remote.takeAuth(KEY)).toBeUndefined();
});

test('a request whose credentials cannot be fetched is answered without them', async () => {
  const { remote } = setUp();
  const row = requestRow({ envelope: '{"auth":{"bearer_token":null}}' });
  await remote.fetchAuth(2, { row, held: { id: 7, epoch: 2 } });
  expect(remote.takeAuth(row)).toBeUndefined();
});
