import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { memoryStore } from '../../test-support/memory-store.ts';
import { SilentLog } from '../../test-support/silent-log.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import { TestIds } from '../../test-support/test-ids.ts';
import { type NetworkGate, openGate } from '../gate/network-gate.ts';
import { Signatures } from '../signing/signatures.ts';
import type { SqliteStore } from '../store/sqlite-store.ts';
import { Outbox } from './outbox.ts';
import { SigningKeys } from './signing-keys.ts';

const signatures = new Signatures();
afterAll(() => signatures[Symbol.asyncDispose]());

const DEAD = Array.from({ length: 10 }, (_, index) => `dead-${index}.example`);

let clock: TestClock;
let store: SqliteStore;
let server: Server;
let port: number;
let gate: NetworkGate;
let outbox: Outbox;
let received: number;
/** Ends the lookup of a dead name, as the system does when it has waited long enough. */
let giveUp: Map<string, () => void>;

beforeEach(async () => {
  clock = new TestClock();
  store = memoryStore();
  received = 0;
  giveUp = new Map();
  server = createServer((_, response) => {
    received += 1;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterEach(async () => {
  for (const end of giveUp.values()) end();
  const stopped = outbox.stop({ drainMs: 0 });
  clock.pass(60_000);
  await stopped;
  await gate[Symbol.asyncDispose]();
  server.close();
});

/** Callbacks to dead names, and one to a healthy host while their lookups are in progress. */
async function sendAll({ allowed }: { allowed: readonly string[] }): Promise<void> {
  const log = new SilentLog();
  gate = openGate({
    clock,
    log,
    callbacks: ['healthy.example', ...allowed].map((host) => ({ host, port })),
    resolve: (name) => {
      if (name === 'healthy.example') return Promise.resolve(['127.0.0.1']);
      return new Promise((_, fail) => {
        giveUp.set(name, () => fail(Object.assign(new Error('no answer'), { code: 'EAI_AGAIN' })));
      });
    },
  });
  const keys = new SigningKeys({ store: store.outbox, signatures });
  outbox = new Outbox({
    ...{ store: store.outbox, gate, keys, clock, log },
    ids: new TestIds(),
    isRegistered: () => false,
  });
  for (const name of DEAD) await add(name, `https://${name}:${port}/`);
  await expect.poll(() => giveUp.size).toBeGreaterThanOrEqual(2);
  await add('healthy', `http://healthy.example:${port}/`);
}

async function add(id: string, url: string): Promise<void> {
  const createdAt = clock.now().getTime();
  const row = {
    id,
    owner: 'ann',
    requestId: id,
    messageId: id,
    url,
    body: '{}',
    priority: 1,
    expiresAt: null,
    createdAt,
  };
  await store.outbox.add(row);
  outbox.admit({ ...row, attempts: 0, nextAt: createdAt });
}

test('names from anonymous senders that do not resolve keep no healthy host waiting', async () => {
  await sendAll({ allowed: [] });
  // The clock stands still: it takes no time at all.
  await expect.poll(async () => (await store.outbox.find('healthy'))?.state).toBe('delivered');
  expect([giveUp.size, received]).toEqual([DEAD.length, 1]);
});

test('a healthy host is not blamed for the time it stood behind names that the system looks up', async () => {
  await sendAll({ allowed: DEAD });
  for (let minute = 0; minute < 3; minute += 1) {
    for (let second = 0; second < 60; second += 1) {
      await clock.advance(1000);
      await new Promise(setImmediate);
    }
    expect(await store.outbox.find('healthy')).toMatchObject({ state: 'due', attempts: 0, failures: [] });
  }
  const stop = setInterval(() => {
    for (const end of giveUp.values()) end();
    clock.pass(1000);
  }, 5);
  await expect.poll(async () => (await store.outbox.find('healthy'))?.state).toBe('delivered');
  clearInterval(stop);
  expect(await store.outbox.find('healthy')).toMatchObject({ attempts: 1, failures: [] });
});
