import { describe, expect, test } from 'vitest';
import { anonymousOwner } from '../mailbox/anonymous.ts';
import { isAnonymousOwner } from '../store/anonymous.ts';
import { Slots } from './slots.ts';

const never = new AbortController().signal;
const sender = (id: string) => ({ id, kind: isAnonymousOwner(id) ? ('anonymous' as const) : ('agent' as const) });
const request = (id: string, priority = 1, signal = never) => ({ lane: 'a', principal: sender(id), priority, signal });

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

test('anonymous principals are served, in turns, only when no known principal waits', async () => {
  const slots = new Slots({ limitOf: () => 1 });
  const held = slots.tryTake('a');
  const served: string[] = [];
  const [ann, bob] = [anonymousOwner('192.0.2.1', 'ann'), anonymousOwner('192.0.2.2', 'bob')];
  const serve = async (principal: string) => {
    const slot = await slots.take(request(principal, principal === ann ? 0 : 1));
    served.push(principal);
    slot.release();
  };
  const waiting = [ann, ann, bob, 'known', 'other', 'known'].map(serve);
  held?.release();
  await Promise.all(waiting);
  expect(served).toEqual(['known', 'other', 'known', ann, bob, ann]);
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

test('a run that stops waiting takes no slot', async () => {
  const slots = new Slots({ limitOf: () => 1 });
  const held = slots.tryTake('a');
  const controller = new AbortController();
  const gone = slots.take(request('p', 1, controller.signal));
  const stays = slots.take(request('q'));
  controller.abort(new Error('enough'));
  await expect(gone).rejects.toThrow('enough');
  held?.release();
  (await stays).release();
  expect(slots.tryTake('a')).toBeDefined();
});

describe('so many may wait', () => {
  /** Lets them wait one after the other, and says how many may. */
  const wait = (slots: Slots, principal: string, count: number) => {
    let waiting = 0;
    for (; waiting < count; waiting++) {
      const announced = slots.tryWait('a', sender(principal));
      if (announced === undefined) break;
      void slots.take(request(principal));
      announced.release();
    }
    return waiting;
  };

  test('one principal is limited to its share, and all together to the room there is', () => {
    const slots = new Slots({ limitOf: () => 1 });
    slots.tryTake('a');
    expect(wait(slots, 'many', 2_000)).toBe(1_000);
    for (let other = 1; other < 10; other++) expect(wait(slots, `p${other}`, 1_000)).toBe(1_000);
    expect(wait(slots, 'late', 1)).toBe(0);
    expect(slots.tryWait('b', sender('many'))).toBeDefined();
  });

  test('all anonymous principals together have few places, and take none from known ones', () => {
    const slots = new Slots({ limitOf: () => 1 });
    slots.tryTake('a');
    const counts = Array.from({ length: 4 }, (_, at) => wait(slots, anonymousOwner(`192.0.2.${at}`, 'x'), 40));
    expect(counts).toEqual([40, 40, 20, 0]);
    expect(wait(slots, 'known', 1)).toBe(1);
  });

  test('one that is announced counts until it is given back, and the place of one that is served is free', async () => {
    const slots = new Slots({ limitOf: () => 1 });
    const held = slots.tryTake('a');
    wait(slots, 'many', 999);
    const last = slots.tryWait('a', sender('many'));
    expect(slots.tryWait('a', sender('many'))).toBeUndefined();
    last?.release();
    last?.release();
    expect(wait(slots, 'many', 2)).toBe(1);
    held?.release();
    expect(wait(slots, 'many', 2)).toBe(1);
  });

  test('but what was accepted before waits however many there are', async () => {
    const slots = new Slots({ limitOf: () => 1 });
    const held = slots.tryTake('a');
    wait(slots, 'many', 1_000);
    expect(slots.tryWait('a', sender('many'))).toBeUndefined();
    const late = slots.take(request('many', 0));
    held?.release();
    (await late).release();
  });
});

test('a new run does not overtake waiting ones', async () => {
  const slots = new Slots({ limitOf: () => 2 });
  const held = [slots.tryTake('a'), slots.tryTake('a')];
  const waiting = slots.take(request('p'));
  held[0]?.release();
  const slot = await waiting;
  expect(slots.tryTake('a')).toBeUndefined();
  slot.release();
});
