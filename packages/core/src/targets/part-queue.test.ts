import type { Json } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import type { AgentPart } from '../agents/agent.ts';
import { PartQueue } from './part-queue.ts';

const MEBIBYTE = 'x'.repeat(1_048_576);

test('chunks arrive in order while the work runs, and the queue returns its result', async () => {
  const queue = new PartQueue();
  let resolve = (_: string): void => {};
  const promise = new Promise<string>((done) => {
    resolve = done;
  });
  queue.put({ n: 1 });
  const reading = queue.until(promise);
  expect(bodyOf((await reading.next()).value)).toEqual({ n: 1 });
  const next = reading.next();
  queue.put({ n: 2 });
  expect(bodyOf((await next).value)).toEqual({ n: 2 });
  queue.put({ n: 3 });
  resolve('done');
  expect(bodyOf((await reading.next()).value)).toEqual({ n: 3 });
  expect(await reading.next()).toEqual({ done: true, value: 'done' });
});

test('the error of the work is thrown after its last chunk', async () => {
  const queue = new PartQueue();
  queue.put({ n: 1 });
  const reading = queue.until(Promise.reject(new Error('it broke')));
  expect(bodyOf((await reading.next()).value)).toEqual({ n: 1 });
  await expect(reading.next()).rejects.toThrow('it broke');
});

test('chunks beyond 4 MiB are dropped to the end, and the last chunk reports how many', async () => {
  const queue = new PartQueue();
  for (let n = 0; n < 6; n++) queue.put({ n, text: MEBIBYTE });
  queue.put({ n: 'small' });
  const bodies = await allOf(queue);
  expect(bodies.slice(0, -1)).toMatchObject([{ n: 0 }, { n: 1 }, { n: 2 }]);
  expect(JSON.stringify(bodies.at(-1))).toContain('4 events dropped');
});

test('one chunk larger than the whole queue is dropped', async () => {
  const queue = new PartQueue();
  queue.put({ text: MEBIBYTE.repeat(5) });
  const bodies = await allOf(queue);
  expect(bodies).toHaveLength(1);
  expect(JSON.stringify(bodies[0])).toContain('1 events dropped');
});

async function allOf(queue: PartQueue): Promise<Json[]> {
  const bodies: Json[] = [];
  for await (const part of queue.until(Promise.resolve())) bodies.push(bodyOf(part));
  return bodies;
}

function bodyOf(part: AgentPart | unknown): Json {
  return (part as Extract<AgentPart, { part: 'chunk' }>).body;
}
