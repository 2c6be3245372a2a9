import { describe, expect, test } from 'vitest';
import { Schedule, type Scheduled } from './schedule.ts';

function filled(items: readonly [id: string, host: string, priority?: number][], { perHost = 4, total = 256 } = {}) {
  const schedule = new Schedule<Scheduled>({ perHost, total });
  for (const [id, host, priority = 1] of items) schedule.add({ id, owner: ownerOf(id), host, priority });
  return schedule;
}

/** The same, with hosts that have answered before. */
function known(items: readonly [id: string, host: string, priority?: number][], bounds = {}) {
  const schedule = filled(
    [...new Set(items.map(([, host]) => host))].map((host) => [`first-${host}`, host]),
    bounds,
  );
  for (let item = schedule.next(); item !== undefined; item = schedule.next()) {
    schedule.leave(item.host, { answered: true });
    schedule.release();
  }
  for (const [id, host, priority = 1] of items) schedule.add({ id, owner: ownerOf(id), host, priority });
  return schedule;
}

/** `ann:1` belongs to Ann; names without a sender all belong to one. */
function ownerOf(id: string): string {
  return id.includes(':') ? (id.split(':')[0] ?? '') : 'ann';
}

function taken(schedule: Schedule<Scheduled>, most = 100): string[] {
  const ids: string[] = [];
  for (let item = schedule.next(); item !== undefined && ids.length < most; item = schedule.next()) ids.push(item.id);
  return ids;
}

describe('the schedule', () => {
  test('gives hosts their turns, regardless of who was queued first', () => {
    const schedule = known([
      ['a1', 'a'],
      ['a2', 'a'],
      ['a3', 'a'],
      ['b1', 'b'],
      ['c1', 'c'],
      ['b2', 'b'],
    ]);
    expect(taken(schedule)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  });

  test('gives senders their turns at a host, each in the order it sent', () => {
    const many = Array.from({ length: 1000 }, (_, index): [string, string] => [`ann:${index}`, 'a']);
    const schedule = filled([...many, ['bob:0', 'a'], ['bob:1', 'a'], ['cid:0', 'a'], ['cid:urgent', 'a', 0]]);
    const order: string[] = [];
    // However long each takes and whether or not the host answers: it has one place.
    for (let number = 0; number < 9; number += 1) {
      order.push(...taken(schedule));
      schedule.leave('a', { answered: false });
      schedule.release();
    }
    const [urgent, ...others] = order;
    expect(urgent).toBe('cid:urgent');
    expect(others).toEqual(['ann:0', 'bob:0', 'cid:0', 'ann:1', 'bob:1', 'ann:2', 'ann:3', 'ann:4']);
  });

  test('keeps the order of a sender with very many, even if some of them are removed', () => {
    const many = Array.from({ length: 1000 }, (_, index): [string, string] => [`ann:${index}`, 'a']);
    const schedule = filled(many, { perHost: 1, total: 1 });
    const order: string[] = [];
    const take = (count: number) => {
      for (let number = 0; number < count; number += 1) {
        order.push(...taken(schedule));
        schedule.leave('a', { answered: true });
        schedule.release();
      }
    };
    take(300);
    schedule.remove(new Set(['ann:299', 'ann:300', 'ann:999']));
    expect(schedule.size).toBe(698);
    take(698);
    const left = many.map(([id]) => id).filter((id) => id !== 'ann:300' && id !== 'ann:999');
    expect([order, schedule.size]).toEqual([left, 0]);
  });

  test('knows whose turns come next, across senders', () => {
    const items = ['ann:0', 'ann:1', 'ann:2', 'ann:3', 'ann:4', 'bob:0', 'bob:1', 'cid:0'];
    const schedule = known(
      items.map((id) => [id, 'a']),
      { perHost: 2 },
    );
    const following = schedule.following('a').map(({ id }) => id);
    expect(following).toEqual(taken(known(items.map((id) => [id, 'a']))).slice(1, 3));
    expect(following).toEqual(['bob:0', 'cid:0']);
    schedule.remove(new Set(['bob:0', 'bob:1', 'ann:1']));
    expect([schedule.following('a').map(({ id }) => id), schedule.size]).toEqual([['cid:0', 'ann:2'], 5]);
  });

  test('sends the urgent first, of one host and of all', () => {
    const schedule = known([
      ['a-low', 'a', 2],
      ['a-normal', 'a', 1],
      ['b-normal', 'b', 1],
      ['a-urgent', 'a', 0],
      ['c-urgent', 'c', 0],
    ]);
    expect(taken(schedule)).toEqual(['a-urgent', 'c-urgent', 'b-normal', 'a-normal', 'a-low']);
  });

  test('gives a host at most its places, and the next one when one is free', () => {
    const items = Array.from({ length: 6 }, (_, index): [string, string] => [`a${index}`, 'a']);
    const schedule = known(items);
    expect(taken(schedule)).toEqual(['a0', 'a1', 'a2', 'a3']);
    expect(schedule.size).toBe(2);
    schedule.leave('a', { answered: true });
    expect(taken(schedule)).toEqual(['a4']);
  });

  test('gives a host that does not answer a single place until it does', () => {
    const schedule = known(Array.from({ length: 9 }, (_, index): [string, string] => [`a${index}`, 'a']));
    expect(taken(schedule).length).toBe(4);
    for (let number = 0; number < 3; number += 1) schedule.leave('a', { answered: false });
    expect(taken(schedule)).toEqual([]);
    schedule.leave('a', { answered: false });
    expect(taken(schedule)).toEqual(['a4']);
    schedule.leave('a', { answered: true });
    expect(taken(schedule)).toEqual(['a5', 'a6', 'a7', 'a8']);
  });

  test('gives an unknown host a single place until it answers', () => {
    const schedule = filled(Array.from({ length: 6 }, (_, index): [string, string] => [`a${index}`, 'a']));
    expect(taken(schedule)).toEqual(['a0']);
    schedule.leave('a', { answered: undefined });
    expect(taken(schedule)).toEqual(['a1']);
    schedule.leave('a', { answered: true });
    expect(taken(schedule)).toEqual(['a2', 'a3', 'a4', 'a5']);
  });

  describe('remembers how a host stands that has nothing to do', () => {
    const rest = (schedule: Schedule<Scheduled>, hosts: number) => {
      for (let number = 0; number < hosts; number += 1) {
        const host = `other-${number}`;
        schedule.add({ id: host, owner: 'ann', host, priority: 1 });
        schedule.next();
        schedule.leave(host, { answered: true });
        schedule.release();
      }
    };
    const more = (schedule: Schedule<Scheduled>, ids: readonly string[]) => {
      for (const id of ids) schedule.add({ id, owner: 'ann', host: 'a', priority: 1 });
    };
    const idle = () => {
      const schedule = known([['a1', 'a']]);
      expect(taken(schedule)).toEqual(['a1']);
      schedule.leave('a', { answered: true });
      schedule.release();
      return schedule;
    };

    test('as long as they are not too many', () => {
      const schedule = idle();
      rest(schedule, 999);
      more(schedule, ['a2', 'a3']);
      expect(taken(schedule)).toEqual(['a2', 'a3']);
    });

    test('and not of more', () => {
      const schedule = idle();
      rest(schedule, 1000);
      more(schedule, ['a2', 'a3']);
      expect(taken(schedule)).toEqual(['a2']);
    });

    test('and of one that is at work again whatever others do', () => {
      const schedule = idle();
      more(schedule, ['a2']);
      expect(taken(schedule)).toEqual(['a2']);
      rest(schedule, 1000);
      more(schedule, ['a3', 'a4']);
      expect(taken(schedule)).toEqual(['a3', 'a4']);
    });
  });

  test('has a bound over all hosts', () => {
    const schedule = filled(
      Array.from({ length: 9 }, (_, index) => [`x${index}`, `host-${index}`]),
      { total: 3 },
    );
    expect(taken(schedule)).toEqual(['x0', 'x1', 'x2']);
    schedule.leave('host-1', { answered: true });
    expect(taken(schedule)).toEqual([]);
    schedule.release();
    expect(taken(schedule)).toEqual(['x3']);
  });

  test('gives the longest waiting host its turn, known or unknown', () => {
    const schedule = known([['a1', 'a']]);
    expect(taken(schedule)).toEqual(['a1']);
    schedule.add({ id: 'new', owner: 'ann', host: 'new', priority: 1 });
    schedule.add({ id: 'a2', owner: 'ann', host: 'a', priority: 1 });
    expect(taken(schedule)).toEqual(['new', 'a2']);
  });

  test('passes over a host of which all was removed, and keeps no place for it', () => {
    const bounds = { total: 2 };
    const schedule = known(
      [
        ['a1', 'a'],
        ['b1', 'b'],
        ['b2', 'b'],
      ],
      bounds,
    );
    schedule.remove(new Set(['a1']));
    expect(taken(schedule)).toEqual(['b1', 'b2']);
  });

  test('leaves out what was removed', () => {
    const schedule = filled([
      ['a1', 'a'],
      ['a2', 'a'],
      ['b1', 'b'],
      ['bob:1', 'c'],
      ['cid:1', 'c'],
    ]);
    schedule.remove(new Set(['a1', 'b1', 'bob:1']));
    expect(taken(schedule)).toEqual(['a2', 'cid:1']);
  });
});

describe('among hosts that do not answer', () => {
  const named = (word: string, count: number) => Array.from({ length: count }, (_, index) => `${word}-${index}`);
  const longestWait = (hosts: readonly string[], { starts }: Simulated) =>
    Math.max(...hosts.flatMap((host) => starts.get(host) ?? [Number.POSITIVE_INFINITY]));

  test.each([100, 300, 1000])('%i of them keep no answering host waiting', (count) => {
    const [dead, healthy] = [named('dead', count), named('healthy', 20)];
    const schedule = known(healthy.map((host) => [`again-${host}`, host]));
    expect(longestWait(healthy, simulated(schedule, { dead, healthy, each: 4 }))).toBeLessThanOrEqual(20);
  });

  test('known silent hosts keep no new host waiting', () => {
    const [dead, healthy] = [named('dead', 1000), named('healthy', 20)];
    const schedule = filled([]);
    const before = simulated(schedule, { dead, healthy: [], each: 2 });
    const { starts, most } = simulated(schedule, { dead, healthy, each: 4 });
    expect(longestWait(healthy, { starts, most })).toBeLessThanOrEqual(40);
    // Half of all places, and a quarter more for unknown hosts; those that answer have three more of theirs.
    expect([before.most, most]).toEqual([192, 128 + 20 * 3]);
  });

  test.each([
    [100, 40],
    [300, 10_040],
  ])('%i unknown hosts keep other unknown hosts waiting for one try at most', (count, milliseconds) => {
    const [dead, healthy] = [named('dead', count), named('healthy', 20)];
    const done = simulated(filled([]), { dead, healthy, each: 4 });
    expect(longestWait(healthy, done)).toBeLessThanOrEqual(milliseconds);
  });

  test('silent hosts get their turns, too, and all the places left to them', () => {
    const dead = named('dead', 1000);
    const schedule = filled([]);
    simulated(schedule, { dead, healthy: [], each: 1 });
    const { starts, most } = simulated(schedule, { dead, healthy: [], each: 1 });
    expect(most).toBe(128);
    expect([...starts.values()].filter((times) => times.length === 1)).toHaveLength(1000);
    expect(longestWait(dead, { starts, most })).toBe(70_000);
  });
});

interface Simulated {
  /** When each host was tried. */
  readonly starts: ReadonlyMap<string, readonly number[]>;
  /** How many were tried at a time. */
  readonly most: number;
}

/** Sends so many to each host, those that are dead first in line: these take ten seconds for a try, others ten milliseconds. */
function simulated(
  schedule: Schedule<Scheduled>,
  { dead, healthy, each }: { dead: readonly string[]; healthy: readonly string[]; each: number },
): Simulated {
  const isDead = new Set(dead);
  for (const host of [...dead, ...healthy]) {
    for (let number = 0; number < each; number += 1)
      schedule.add({ id: `${host}-${number}`, owner: 'ann', host, priority: 1 });
  }
  const starts = new Map<string, number[]>();
  const running: { readonly host: string; readonly until: number }[] = [];
  let [now, most] = [0, 0];
  for (;;) {
    for (let item = schedule.next(); item !== undefined; item = schedule.next()) {
      starts.set(item.host, [...(starts.get(item.host) ?? []), now]);
      running.push({ host: item.host, until: now + (isDead.has(item.host) ? 10_000 : 10) });
    }
    most = Math.max(most, running.length);
    running.sort((a, b) => a.until - b.until);
    const [first] = running;
    if (first === undefined) return { starts, most };
    now = first.until;
    while (running[0]?.until === now) {
      const { host = '' } = running.shift() ?? {};
      schedule.leave(host, { answered: !isDead.has(host) });
      schedule.release();
    }
  }
}
