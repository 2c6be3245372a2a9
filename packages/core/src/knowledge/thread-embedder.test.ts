import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { SilentLog } from '../../test-support/silent-log.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import { nearness } from './embedder.ts';
import { ThreadEmbedder } from './thread-embedder.ts';

test('the installed encoder starts at its first use, ranks similar texts, and stops when idle', async () => {
  const clock = new TestClock();
  await using embedder = new ThreadEmbedder({ clock, log: new SilentLog(), idleMs: 60_000 });
  await expect(embedder.embed(['too early'])).rejects.toThrow('not ready');
  let readied = 0;
  embedder.onReady(() => {
    readied += 1;
  });
  expect(embedder.isReady()).toBe(false);
  expect(await embedder.whenReady()).toBe(true);
  expect(readied).toBe(1);

  const [rain, umbrella, invoice] = await embedder.embed([
    'Will it rain?',
    'the weather forecast',
    'an unpaid invoice',
  ]);
  if (rain === undefined || umbrella === undefined || invoice === undefined) throw new Error('three were expected');
  expect(nearness(rain, rain)).toBeCloseTo(1, 4);
  expect(nearness(rain, umbrella)).toBeGreaterThan(nearness(rain, invoice) + 0.1);

  clock.pass(59_000);
  expect(embedder.isReady()).toBe(true);
  clock.pass(2000);
  expect(embedder.isReady()).toBe(false);
  await expect.poll(() => readied).toBe(2);
});

test.each([
  ['reports missing packages', "parentPort.postMessage({ kind: 'missing', message: 'not installed' })"],
  ['does not load', "throw new Error('not installed')"],
  ['ends by itself', 'process.exit(0)'],
])('a thread that %s is not tried again', async (_, code) => {
  const log = new SilentLog();
  let starts = 0;
  const start = () => {
    starts += 1;
    return new Worker(`const { parentPort } = require('node:worker_threads'); ${code}`, { eval: true, stderr: true });
  };
  await using embedder = new ThreadEmbedder({ clock: new TestClock(), log, start });
  expect(await embedder.whenReady()).toBe(false);
  await expect.poll(() => log.lines).toHaveLength(1);
  expect(await embedder.whenReady()).toBe(false);
  expect(embedder.isReady()).toBe(false);
  expect({ starts, lines: log.lines.length }).toEqual({ starts: 1, lines: 1 });
});

test('a waiter for a thread that dies gets an error', async () => {
  const code = "parentPort.postMessage({ kind: 'ready' }); parentPort.on('message', () => process.exit(1));";
  const start = () => new Worker(`const { parentPort } = require('node:worker_threads'); ${code}`, { eval: true });
  await using embedder = new ThreadEmbedder({ clock: new TestClock(), log: new SilentLog(), start });
  await expect.poll(() => embedder.isReady()).toBe(true);
  await expect(embedder.embed(['a text'])).rejects.toThrow('the encoder has ended');
});
