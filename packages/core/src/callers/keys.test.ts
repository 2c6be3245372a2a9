import { expect, test } from 'vitest';
import { memoryStore } from '../../test-support/memory-store.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import { TestIds } from '../../test-support/test-ids.ts';
import type { Clock, Ids } from '../ports/ports.ts';
import { Keys } from './keys.ts';

const clock: Clock = {
  now: () => new Date(0),
  elapsed: () => 0,
  wait: () => new Promise<void>(() => {}),
  after: () => () => {},
};

function open() {
  let count = 0;
  const ids: Ids = { hex: () => String(count++).padStart(32, '0'), sortable: () => '', uuid: () => '' };
  return new Keys({ store: memoryStore().keys, clock, ids });
}

test('a key is found by its secret each time it is sent, and by nothing else', async () => {
  const keys = open();
  const { row, secret } = await keys.create({ agentId: 'ada', role: 'agent' });
  for (let time = 0; time < 3; time++) expect(keys.find(secret)).toEqual(row);
  expect(keys.find(`${secret}x`)).toBeUndefined();
  expect(keys.find(row.hash)).toBeUndefined();
});

test('a key in use is invalid as soon as it is revoked; others stay valid', async () => {
  const keys = open();
  const [gone, kept] = [
    await keys.create({ agentId: 'ada', role: 'agent' }),
    await keys.create({ agentId: 'bob', role: 'agent' }),
  ];
  expect([keys.find(gone.secret), keys.find(kept.secret)]).toEqual([gone.row, kept.row]);
  const revoking = keys.revoke(gone.row.keyId);
  expect([keys.find(gone.secret), keys.find(kept.secret)]).toEqual([undefined, kept.row]);
  expect(await revoking).toBe(true);
});

test('more keys than the cache holds are all found', async () => {
  const keys = open();
  const made = [];
  for (let at = 0; at < 1100; at++) made.push(await keys.create({ agentId: `agent-${at}`, role: 'agent' }));
  for (let time = 0; time < 2; time++) for (const { row, secret } of made) expect(keys.find(secret)).toEqual(row);
});

test('a key is invalid after it expires, and everything opened with it ends', async () => {
  const testClock = new TestClock();
  const store = memoryStore().keys;
  const keys = new Keys({ store, clock: testClock, ids: new TestIds() });
  const ended: string[] = [];
  keys.onRevoked((keyId) => ended.push(keyId));
  const { row, secret } = await keys.create({ agentId: 'ada', role: 'agent', expiresInMs: 1000 });
  const lasting = await keys.create({ agentId: 'ada', role: 'agent' });
  testClock.pass(999);
  expect(keys.find(secret)).toEqual(row);
  expect(ended).toEqual([]);
  testClock.pass(1);
  expect([keys.find(secret), ended]).toEqual([undefined, [row.keyId]]);
  const after = new Keys({ store, clock: testClock, ids: new TestIds() });
  await after.load();
  expect([after.find(secret), after.find(lasting.secret)]).toEqual([undefined, lasting.row]);
});
