import { expect, test } from 'vitest';
import { Slots } from './slots.ts';

const never = new AbortController().signal;
const request = (principal: string, priority = 1, signal = never) => ({ agentId: 'a', principal, priority, signal });

test('a slot is free up to the limit and is given back once', async () => {
  const slots = new Slots({ limitOf: () => 1 });
  const first = slots.tryTake('a');
  expect(slots.tryTake('a')).toBeUndefined();
  expect(slots.tryTake('b')).toBeDefined();
  first?.release();
  first?.release();
  expect(slots.tryTake('a')).toBeDefined();
  expect(slots.tryTake('a')).toBeUndefined();
});

test('principals take turns, however many requests one of them has waiting', async () => {
  const slots = new Slots({ limitOf: () => 1 });
  const held = slots.tryTake('a');
  const served: string[] = [];
  const waiting = ['many', 'many', 'many', 'one', 'many'].map(async (principal) => {
    const slot = await slots.take(request(principal));
    served.push(principal);
    slot.release();
  });
  held?.release();
  await Promise.all(waiting);
  expect(served).toEqual(['many', 'one', 'many', 'many', 'many']);
});

test('among the requests of one principal the urgent go first, then the older', async () => {
  const slots = new Slots({ limitOf: () => 1 });
  const held = slots.tryTake('a');
  const served: string[] = [];
  const waiting = [
    ['low', 2],
    ['first', 1],
    ['second', 1],
    ['urgent', 0],
  ].map(async ([name, priority]) => {
    const slot = await slots.take(request('p', Number(priority)));
    served.push(String(name));
    slot.release();
  });
  held?.release();
  await Promise.all(waiting);
  expect(served).toEqual(['urgent', 'first', 'second', 'low']);
});

test('who stops waiting takes no slot', async () => {
  const slots = new Slots({ limitOf: () => 1 });
  const held = slots.tryTake('a');
  const controller = new AbortController();
  const gone = slots.take(request('p', 1, controller.signal));
  const stays = slots.take(request('q'));
  controller.abort(new Error('enough'));
  await expect(gone).rejects.toThrow('enough');
  expect(slots.waiting).toBe(1);
  held?.release();
  (await stays).release();
  expect(slots.tryTake('a')).toBeDefined();
});

test('nobody overtakes those who wait', async () => {
  const slots = new Slots({ limitOf: () => 2 });
  const held = [slots.tryTake('a'), slots.tryTake('a')];
  const waiting = slots.take(request('p'));
  held[0]?.release();
  const slot = await waiting;
  expect(slots.tryTake('a')).toBeUndefined();
  slot.release();
});
