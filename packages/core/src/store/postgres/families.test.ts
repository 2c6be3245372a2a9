import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type PostgresServer, startQuickPostgres } from '../../../test-support/postgres-server.ts';
import type { FamilyName } from '../families.ts';
import { StoreError } from '../store-error.ts';
import { dial } from './connection.ts';
import { connectPostgresStore, type PostgresStore } from './postgres-store.ts';
import { readPostgresUrl } from './postgres-url.ts';

let server: PostgresServer;
let one: PostgresStore;
let other: PostgresStore;

beforeAll(async () => {
  server = await startQuickPostgres();
  [one, other] = await Promise.all([
    connectPostgresStore({ url: server.url('families') }),
    connectPostgresStore({ url: server.url('families') }),
  ]);
});

afterAll(async () => {
  await one?.[Symbol.asyncDispose]();
  await other?.[Symbol.asyncDispose]();
  await server?.stop();
});

const KEY = {
  keyId: 'k',
  hash: 'h',
  agentId: 'ada',
  role: 'agent',
  description: null,
  createdAt: 1,
  expiresAt: null,
  revokedAt: null,
} as const;
const SEAL = { salt: 's', keyCheck: 'c', manifest: '{}', mac: '1' };
const AGENT = { agentId: 'ada', definition: '{}', createdAt: 1 };
const REGISTRATION = { agentId: 'ada', owner: 'ada', card: '{}', endpoint: 'e', registeredAt: 1, lastHeartbeat: 1 };
const WORKFLOW = { name: 'w', description: '', text: '{}', planHash: 'p', createdAt: 1 };

/** Every administrative write, in an order in which each of them changes something. */
const WRITES: readonly [FamilyName, string, (store: PostgresStore) => Promise<unknown>][] = [
  ['keys', 'a new key', ({ keys }) => keys.put(KEY)],
  ['keys', 'a revoked key', ({ keys }) => keys.revoke('k', 2)],
  ['agents', 'an agent', ({ agents }) => agents.put(AGENT)],
  ['agents', 'a removed agent', ({ agents }) => agents.remove('ada')],
  ['agents', 'a forgotten secret', ({ outbox }) => outbox.forgetSalt('ada')],
  ['apis', 'an API', ({ apis }) => apis.put({ apiId: 'a', definition: '{}', createdAt: 1 })],
  ['apis', 'a removed API', ({ apis }) => apis.remove('a')],
  ['knowledge', 'a knowledge base', ({ knowledge }) => knowledge.put({ baseId: 'b', definition: '{}', createdAt: 1 })],
  ['knowledge', 'a removed knowledge base', ({ knowledge }) => knowledge.remove('b')],
  ['workflows', 'a workflow', ({ workflows }) => workflows.put(WORKFLOW)],
  ['workflows', 'a removed workflow', ({ workflows }) => workflows.remove('w', 2)],
  ['credentials', 'a credential', ({ credentials }) => credentials.put([], SEAL, null)],
  ['credentials', 'a removed credential', ({ credentials }) => credentials.remove('c', { ...SEAL, mac: '2' }, '1')],
  ['registrations', 'a registration', ({ registrations }) => registrations.put(REGISTRATION)],
  ['registrations', 'a removed registration', ({ registrations }) => registrations.remove('ada')],
  ['pins', 'a pin', ({ pins }) => pins.put({ name: 'p', hash: 'h', pinnedAt: 1, definition: null })],
  ['pins', 'a first pin', ({ pins }) => pins.add({ name: 'q', hash: 'h', pinnedAt: 1, definition: null })],
  ['pins', 'a refused change', ({ pins }) => pins.refuse('p', 'x')],
];

test.each(WRITES)('%s: %s is a change for the other process, and none for its own', async (family, _, write) => {
  const before = [await one.families.versions(), await other.families.versions()] as const;
  await write(one);
  const after = [await one.families.versions(), await other.families.versions()] as const;
  expect(after[0]).toEqual(new Map([...before[0], [family, before[0].get(family) ?? 0]]));
  expect(after[1].get(family)).toBeGreaterThan(before[1].get(family) ?? 0);
  expect(new Map([...after[1], [family, 0]])).toEqual(new Map([...before[1], [family, 0]]));
});

test('a change between two own ones is noticed, and a write that is refused brings none', async () => {
  const before = (await one.families.versions()).get('apis');
  await one.apis.put({ apiId: 'x', definition: '{}', createdAt: 1 });
  await other.apis.put({ apiId: 'y', definition: '{}', createdAt: 1 });
  await one.apis.put({ apiId: 'z', definition: '{}', createdAt: 1 });
  const after = (await one.families.versions()).get('apis');
  expect(after).not.toBe(before);
  await expect(other.apis.put({ apiId: 'NUL \0', definition: '{}', createdAt: 1 })).rejects.toThrow('NUL');
  expect((await one.families.versions()).get('apis')).toBe(after);
});

test('writers of all processes get numbers of their own, in the order in which they commit', async () => {
  const count = async () => (await other.families.versions()).get('apis') ?? 0;
  const before = await count();
  const writers = Array.from({ length: 20 }, (_, number) =>
    one.apis.put({ apiId: `a${number}`, definition: '{}', createdAt: 1 }),
  );
  await Promise.all(writers);
  expect(await count()).toBe(before + 20);
});

test('what only one process at a time may do is done by one after the other', async () => {
  let doing = 0;
  let most = 0;
  const work = async () => {
    doing += 1;
    most = Math.max(most, doing);
    await new Promise((resolve) => setImmediate(resolve));
    doing -= 1;
    return most;
  };
  await Promise.all([one, other, one, other].map((store) => store.inTurn('work', work)));
  expect(most).toBe(1);
  // More than there are connections, each of which writes itself.
  const write = (number: number) => one.apis.put({ apiId: `turn${number}`, definition: '{}', createdAt: 1 });
  await Promise.all(Array.from({ length: 30 }, (_, number) => one.inTurn(`turn ${number}`, () => write(number))));
  expect((await one.apis.list()).filter(({ apiId }) => apiId.startsWith('turn'))).toHaveLength(30);
});

describe('what only one process at a time may do is done once,', () => {
  /** Ends the connections that hold an advisory lock of the transaction. */
  async function loseLock(): Promise<void> {
    const connection = await dial(readPostgresUrl(server.url('families')), () => {});
    await connection.query(
      `SELECT pg_terminate_backend(pid) FROM pg_locks
       WHERE locktype = 'advisory' AND classid::bigint = hashtext('in turn')::bigint & 4294967295`,
      [],
    );
    await connection.close();
  }

  test('even if the connection that holds the lock is lost meanwhile', async () => {
    let times = 0;
    const work = async () => {
      times += 1;
      await loseLock();
      return times;
    };
    expect(await one.inTurn('lost', work)).toBe(1);
    expect(times).toBe(1);
  });

  test('even if it is refused for a reason that may pass', async () => {
    let times = 0;
    const work = async () => {
      times += 1;
      throw new StoreError('store_unavailable', 'The disk is full.');
    };
    await expect(one.inTurn('refused', work)).rejects.toThrow('The disk is full.');
    expect(times).toBe(1);
  });
});
