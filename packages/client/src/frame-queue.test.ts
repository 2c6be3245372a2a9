import { newResponse } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import { FrameQueue } from './frame-queue.ts';

const frame = (sequence: number) => newResponse({ sequence });
const never = new AbortController().signal;

test('frames come out as they went in, also to who was there first', async () => {
  const queue = new FrameQueue();
  const first = queue.next(never);
  queue.push(frame(0), 10);
  queue.push(frame(1), 10);
  expect([(await first)?.sequence, (await queue.next(never))?.sequence]).toEqual([0, 1]);
});

test('frames before the failure are still read', async () => {
  const queue = new FrameQueue();
  queue.push(frame(0), 10);
  queue.fail(new Error('gone'));
  expect((await queue.next(never))?.sequence).toBe(0);
  await expect(queue.next(never)).rejects.toThrow('gone');
});

test('above the limit frames are dropped, and the reader gets a notice in their place', async () => {
  const queue = new FrameQueue(25);
  for (const sequence of [0, 1, 2, 3]) queue.push(frame(sequence), 10);
  expect((await queue.next(never))?.sequence).toBe(0);
  queue.push(frame(4), 10);
  expect((await queue.next(never))?.sequence).toBe(1);
  expect(await queue.next(never)).toBeUndefined();
});

test('one frame larger than the bound is taken', async () => {
  const queue = new FrameQueue(25);
  queue.push(frame(0), 1000);
  expect((await queue.next(never))?.sequence).toBe(0);
});

test('a reader stops waiting when its signal aborts', async () => {
  const controller = new AbortController();
  const next = new FrameQueue().next(controller.signal);
  controller.abort(new Error('enough'));
  await expect(next).rejects.toThrow('enough');
});
