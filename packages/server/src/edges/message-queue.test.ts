import type { UnreadAccount } from '@dragoman/core';
import { expect, test } from 'vitest';
import { MessageQueue } from './message-queue.ts';

/** The numbers of what a reader is given next, so many of them. */
async function take(reader: AsyncGenerator<{ readonly id: number }>, count: number): Promise<number[]> {
  const ids: number[] = [];
  while (ids.length < count) {
    const { done, value } = await reader.next();
    if (done === true) break;
    ids.push(value.id);
  }
  return ids;
}

function queueOf(count: number, data = 'x'): MessageQueue {
  const queue = new MessageQueue();
  for (let each = 0; each < count; each++) queue.push(data);
  return queue;
}

test('a reader continues with the unread messages, or after the number it names', async () => {
  const queue = queueOf(5);
  expect(await take(queue.read(undefined), 3)).toEqual([0, 1, 2]);
  expect(queue.unsent).toBe(2);
  expect(await take(queue.read(0), 2)).toEqual([1, 2]);
  expect(await take(queue.read(undefined), 2)).toEqual([3, 4]);
  expect(queue.unsent).toBe(0);
});

test('the last 256 read messages are kept, and no reader can resume before them', async () => {
  const queue = queueOf(401);
  await take(queue.read(undefined), 401);
  expect(queue.resumesAfter).toBe(400 - 256);
  expect(await take(queue.read(10), 1)).toEqual([]);
  expect(await take(queue.read(144), 1)).toEqual([145]);
});

test('1 MiB of read messages is kept, and the last one regardless of its length', async () => {
  const queue = queueOf(8, 'x'.repeat(300_000));
  await take(queue.read(undefined), 8);
  expect(queue.resumesAfter).toBe(4);
  queue.push('x'.repeat(8_000_000));
  expect(await take(queue.read(undefined), 1)).toEqual([8]);
  expect(queue.resumesAfter).toBe(7);
});

test('unread messages are kept, however many and however long', async () => {
  const queue = queueOf(2_000, 'x'.repeat(1_000));
  expect(await take(queue.read(undefined), 2_000)).toHaveLength(2_000);
});

test('messages that arrive while a reader catches up remove nothing before it', async () => {
  const queue = queueOf(256);
  await take(queue.read(undefined), 256);
  const reader = queue.read(-1);
  for (let each = 0; each < 300; each++) queue.push('x');
  expect(await take(reader, 556)).toEqual(Array.from({ length: 556 }, (_, id) => id));
});

test('a number that was never sent cannot be resumed after', () => {
  const queue = queueOf(3);
  expect(queue.canResume(-1)).toBe(true);
  expect(queue.canResume(0)).toBe(false);
  expect(queue.canResume(99)).toBe(false);
});

test('a queue is over when it has ended and all its messages were read', async () => {
  const queue = queueOf(1);
  queue.end();
  expect(queue.isOver).toBe(false);
  expect(await take(queue.read(undefined), 9)).toEqual([0]);
  expect(queue.isOver).toBe(true);
});

test('a message that arrives after a reader has left goes to the next one, even if the first still waited', async () => {
  const queue = queueOf(1);
  const gone = queue.read(undefined);
  await gone.next();
  const waiting = gone.next();
  const left = gone.return(undefined);
  for (let each = 0; each < 3; each++) queue.push('x');
  await Promise.all([waiting, left]);
  expect(queue.unsent).toBe(3);
  expect(await take(queue.read(undefined), 3)).toEqual([1, 2, 3]);
});

test('a message that a reader dropped before writing it goes to the next one, too', async () => {
  const queue = queueOf(3);
  const slow = queue.read(undefined);
  await take(slow, 2);
  await slow.return(undefined);
  expect(await take(queue.read(undefined), 2)).toEqual([1, 2]);
  const again = queue.read(0);
  await take(again, 1);
  await again.return(undefined);
  expect({ unsent: queue.unsent, sentUpTo: queue.sentUpTo }).toEqual({ unsent: 0, sentUpTo: 2 });
});

test('an ended queue keeps its last message when the reader left before it arrived', async () => {
  const queue = queueOf(0);
  const gone = queue.read(undefined);
  const waiting = gone.next();
  const left = gone.return(undefined);
  queue.push('goodbye');
  queue.end();
  await Promise.all([waiting, left]);
  expect(queue.isOver).toBe(false);
  expect(await take(queue.read(undefined), 9)).toEqual([0]);
  expect(queue.isOver).toBe(true);
});

test('unread messages count towards its budget', async () => {
  let held = 0;
  const account = {
    sent: (bytes: number) => (held += bytes),
    read: (bytes: number) => (held -= bytes),
    close: () => {},
  };
  const queue = new MessageQueue(account as unknown as UnreadAccount);
  for (let each = 0; each < 5; each++) queue.push('four');
  expect(held).toBe(20);
  const reader = queue.read(undefined);
  await take(reader, 3);
  expect(held).toBe(queue.unsent);
  expect(held).toBe(8);
  // Let go before it took the third.
  await reader.return(undefined);
  expect(held).toBe(queue.unsent);
});
