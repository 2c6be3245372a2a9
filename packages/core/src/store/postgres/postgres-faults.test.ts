import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDroppingNetwork } from '../../../test-support/dropping-network.ts';
import { type PostgresServer, startPostgres } from '../../../test-support/postgres-server.ts';
import { type SmallDisk, smallDisk } from '../../../test-support/small-disk.ts';
import { ALL, frame, requestRow } from '../requests.contract.ts';
import type { Held } from '../store.ts';
import { connectPostgresStore, type PostgresStore, type PostgresStoreOptions } from './postgres-store.ts';

let server: PostgresServer;
let schemas = 0;

beforeAll(async () => {
  server = await startPostgres({ isDurable: true });
});

afterAll(() => server?.stop());

function open(options: Partial<PostgresStoreOptions> = {}): Promise<PostgresStore> {
  schemas += 1;
  return connectPostgresStore({ url: server.url(`faults_${schemas}`), ...options });
}

describe('when PostgreSQL is killed and started again', () => {
  test('nothing acknowledged is lost, nothing is recorded twice, and writers continue automatically', async () => {
    await using store = await open();
    let isOver = false;
    const answered: string[] = [];
    const lane = async (number: number) => {
      for (let count = 0; !isOver; count += 1) {
        const row = requestRow({ owner: `lane-${number}`, requestId: `r${count}`, state: 'started' });
        // A repeat would mean that an unknown outcome was treated as a failure and tried again.
        const accepted = await store.requests.accept(row);
        expect(accepted).toMatchObject({ repeat: false });
        const { held } = accepted as { held: Held };
        await store.requests.append(held, [frame(0)]);
        await store.requests.append(held, [frame(1, { isFinal: true })]);
        await store.outbox.add({ ...DELIVERY, id: `${row.owner} ${row.requestId}`, owner: row.owner });
        answered.push(`${row.owner} ${row.requestId}`);
      }
    };
    const lanes = Array.from({ length: 8 }, (_, number) => lane(number));
    for (let kills = 0; kills < 3; kills += 1) {
      const before = answered.length;
      await expect.poll(() => answered.length).toBeGreaterThan(before + 20);
      await server.kill();
      await server.start();
    }
    const after = answered.length;
    await expect.poll(() => answered.length).toBeGreaterThan(after + 20);
    isOver = true;
    await Promise.all(lanes);
    for (const name of answered) {
      const [owner = '', requestId = ''] = name.split(' ');
      expect((await store.requests.find({ owner, requestId }))?.state).toBe('finished');
      expect(await store.requests.frames({ owner, requestId }, ALL)).toHaveLength(2);
      expect((await store.outbox.find(name))?.state).toBe('due');
    }
    expect((await store.requests.list({ limit: answered.length + 1 })).rows).toHaveLength(answered.length);
  });

  test('while it is away a write is refused after the patience, and nothing of it is recorded', async () => {
    await using store = await open({ patienceMs: 500 });
    await store.requests.accept(requestRow({ requestId: 'before' }));
    await server.kill();
    await expect(store.requests.accept(requestRow())).rejects.toMatchObject({ code: 'store_unavailable' });
    await expect(store.requests.find(requestRow())).rejects.toMatchObject({ code: 'store_unavailable' });
    await server.start();
    expect(await store.requests.find(requestRow())).toBeUndefined();
    expect(await store.requests.accept(requestRow())).toMatchObject({ repeat: false });
  });
});

test('what waits on connections that the network has dropped silently is done on others', async () => {
  schemas += 1;
  using network = await startDroppingNetwork(join(server.folder, '.s.PGSQL.5432'));
  const url = `postgres://dragoman@127.0.0.1:${network.port}/postgres?schema=faults_${schemas}`;
  await using store = await connectPostgresStore({ url });
  const accepted = await store.requests.accept(requestRow({ state: 'started' }));
  network.drop();
  const appended = store.requests.append((accepted as { held: Held }).held, [frame(0)]);
  const read = store.requests.find(requestRow());
  await expect(store.cluster.beat(100)).rejects.toThrow();
  await appended;
  expect(await read).toMatchObject({ state: 'started' });
  expect(await store.requests.frames(requestRow(), ALL)).toHaveLength(1);
  expect(await store.cluster.beat(60_000)).toBeGreaterThanOrEqual(0);
});

test('a full disk refuses writes with the reason, and what was acknowledged is there when it has space again', async (context) => {
  let disk: SmallDisk | undefined;
  const onData = (path: string) => {
    disk = smallDisk(path, { megabytes: 160 });
  };
  const small = await startPostgres({ isDurable: true, onData });
  try {
    if (disk === undefined || disk.why !== '') return context.skip(disk?.why ?? '');
    await using store = await connectPostgresStore({ url: small.url('full'), patienceMs: 500 });
    const answered: string[] = [];
    const write = async (requestId: string) => {
      await store.requests.accept(requestRow({ requestId, envelope: randomBytes(100_000).toString('hex') }));
      answered.push(requestId);
    };
    const refusals: unknown[] = [];
    // Where there is no space for its log, PostgreSQL ends, and its operator starts it again.
    let hasEnded = false;
    const ended = small.ended().then(() => {
      hasEnded = true;
    });
    let last: Promise<unknown> = Promise.resolve();
    for (let count = 0; refusals.length === 0 && !hasEnded; count += 1) {
      last = write(`r${count}`).catch((error) => refusals.push(error));
      await Promise.race([last, ended]);
    }
    expect(answered.length).toBeGreaterThan(10);
    disk.resize({ megabytes: 400 });
    if (!(await small.isRunning())) await small.start();
    // One that was being committed when it ended is undecided until it is back.
    await last;
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({
        code: 'store_unavailable',
        message: expect.stringContaining('nothing was recorded'),
      });
    }
    await expect.poll(() => write('later').then(() => true, String)).toBe(true);
    for (const requestId of answered) expect(await store.requests.find(requestRow({ requestId }))).toBeDefined();
  } finally {
    disk?.[Symbol.dispose]();
    await small.stop();
  }
});

describe('what stands in the way is named', () => {
  const socket = () => encodeURIComponent(server.folder);
  test.each([
    ['an invalid URL', () => 'postgres:/host', 'it must look like postgres://user@host:5432/database?schema=dragoman'],
    ['a URL without a database', () => 'postgres://dragoman@localhost/', 'the database is missing'],
    ['an unknown parameter', () => 'postgres://u@h/d?shcema=x', '"shcema" is not a parameter'],
    ['an invalid schema', () => 'postgres://u@h/d?schema=A-b', 'schema must be lower case letters'],
    [
      'a database that is not there',
      () => `postgres://dragoman@localhost/nowhere?host=${socket()}`,
      'CREATE DATABASE nowhere',
    ],
    [
      'a user that is not there',
      () => `postgres://nobody@localhost/postgres?host=${socket()}`,
      'refused the user "nobody"',
    ],
  ])('%s', async (_, url, message) => {
    await expect(connectPostgresStore({ url: url() })).rejects.toMatchObject({
      code: 'store_unreachable',
      message: expect.stringContaining(message),
    });
  });

  test('a server that does not answer', async () => {
    const opening = connectPostgresStore({ url: 'postgres://u@127.0.0.1:1/d' });
    await expect(opening).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('127.0.0.1:1'),
    });
  });
});

const DELIVERY = {
  requestId: 'r',
  messageId: 'm',
  url: 'https://one.example/',
  body: '{}',
  priority: 1,
  expiresAt: null,
  createdAt: 1,
};
