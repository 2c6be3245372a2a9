import { expect, test } from 'vitest';
import { SilentLog } from '../../test-support/silent-log.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import type { ClusterStore } from '../store/cluster.ts';
import { Cluster } from './cluster.ts';

const TTL = 10_000;

/** What the database would answer. */
class FakeStore implements ClusterStore {
  node = 1;
  isAway = false;
  isDead = false;
  left = false;
  /** It has its new number, and then its connection is lost. */
  joinFails = false;
  silentMs = 1000;
  onWord: ((text: string) => void) | undefined;
  readonly calls: string[] = [];

  nodes = async () => [];
  hasLeftovers = async () => this.left;
  leave = async () => {};
  database = () => Promise.reject(new Error('not used'));
  openRequest = async () => undefined;
  openRequests = async () => [];
  openOf = async () => [];
  holderOf = async () => undefined;
  addLine = async () => {};
  removeLine = async () => {};
  lineOf = async () => undefined;
  takeHandedOver = async () => [];
  takeWaiting = async () => [];
  others = async () => [];
  send = async () => {};
  addCall = async () => 1;
  takeCalls = async () => [];
  answerCall = async () => {};
  takeAnswers = async () => [];

  async beat(): Promise<number | undefined> {
    if (this.isAway) throw new Error('the database is away');
    return this.isDead ? undefined : this.silentMs;
  }

  async join(): Promise<void> {
    this.calls.push('join');
    this.isDead = false;
    this.node += 1;
    if (this.joinFails) throw new Error('the database is away');
  }

  async buryDead(): Promise<number[]> {
    this.calls.push('bury');
    return [];
  }
}

function setUp() {
  const clock = new TestClock();
  const store = new FakeStore();
  const cluster = new Cluster({ store, clock, log: new SilentLog(), ttlMs: TTL, graceMs: 2000, beatMs: 1000 });
  cluster.listen({
    lost: () => void store.calls.push('lost'),
    joinedAgain: () => void store.calls.push('joinedAgain'),
    takeOver: async () => void store.calls.push('takeOver'),
    beat: async () => void store.calls.push('beat'),
  });
  const beat = async (seconds: number) => {
    for (let second = 0; second < seconds; second += 1) {
      clock.pass(1000);
      await cluster.beat();
      await cluster.settled();
    }
  };
  const buried = () => store.calls.filter((call) => call === 'bury').length;
  return { clock, store, cluster, beat, buried };
}

test('a node declares others dead only after its own beats got through for one time to live', async () => {
  const { beat, buried } = setUp();
  await beat(10);
  expect(buried()).toBe(0);
  await beat(2);
  expect(buried()).toBeGreaterThan(0);
});

test('after the database was away it gives the others the same time again', async () => {
  const { store, beat, buried } = setUp();
  await beat(15);
  store.isAway = true;
  await beat(30);
  store.isAway = false;
  const before = buried();
  await beat(10);
  expect(buried()).toBe(before);
  await beat(2);
  expect(buried()).toBeGreaterThan(before);
});

test('so it does after it stood still, since the others may have stood still with it', async () => {
  const { store, beat, buried } = setUp();
  await beat(15);
  // Its own clock may have stood still as well.
  store.silentMs = 20_000;
  const before = buried();
  await beat(1);
  store.silentMs = 1000;
  await beat(9);
  expect(buried()).toBe(before);
  await beat(2);
  expect(buried()).toBeGreaterThan(before);
});

test('a node that does not reach the database for 0.6 of the time to live takes nothing new, until it does', async () => {
  const { store, cluster, beat } = setUp();
  await beat(3);
  store.isAway = true;
  await beat(5);
  expect(cluster.isFenced).toBe(false);
  await beat(1);
  expect(cluster.isFenced).toBe(true);
  store.isAway = false;
  await beat(1);
  expect(cluster.isFenced).toBe(false);
});

test('a node that stood still is fenced when it wakes, before its next beat', async () => {
  const { clock, cluster, beat } = setUp();
  await beat(3);
  clock.pass(7000);
  expect(cluster.isFenced).toBe(true);
});

test('a node that was declared dead releases its runs before it joins again', async () => {
  const { store, cluster, beat } = setUp();
  await beat(3);
  store.isDead = true;
  store.calls.length = 0;
  await beat(1);
  expect(store.calls).toEqual(['lost', 'join', 'joinedAgain', 'beat']);
  expect(cluster.node).toBe(2);
});

test('runs of nodes that are gone are taken over with the next beat', async () => {
  const { store, beat } = setUp();
  await beat(1);
  expect(store.calls).not.toContain('takeOver');
  store.left = true;
  await beat(1);
  expect(store.calls).toContain('takeOver');
});

test('a failing listener does not stop the others', async () => {
  const { store, cluster, beat } = setUp();
  let hasRun = false;
  cluster.listen({ beat: () => Promise.reject(new Error('not now')) });
  cluster.listen({
    beat: async () => {
      hasRun = true;
    },
  });
  await beat(1);
  expect(hasRun).toBe(true);
  expect(store.calls).toContain('beat');
});

test('a node whose connection is lost while it joins again tells its listeners with a later beat', async () => {
  const { store, beat } = setUp();
  await beat(1);
  store.isDead = true;
  store.joinFails = true;
  await beat(1);
  expect(store.calls).toEqual(expect.arrayContaining(['lost', 'join']));
  expect(store.calls).not.toContain('joinedAgain');
  await beat(2);
  expect(store.calls.filter((call) => call === 'join' || call === 'joinedAgain')).toEqual(['join', 'joinedAgain']);
});
