import { describe, expect, test } from 'vitest';
import { Schedule, type Scheduled } from './schedule.ts';

function filled(items: readonly [id: string, host: string, priority?: number][], { perHost = 4, total = 256 } = {}) {
  const schedule = new Schedule<Scheduled>({ perHost, total });
  for (const [id, host, priority = 1] of items) schedule.add({ id, host, priority });
  return schedule;
}

function taken(schedule: Schedule<Scheduled>, most = 100): string[] {
  const ids: string[] = [];
  for (let item = schedule.next(); item !== undefined && ids.length < most; item = schedule.next()) ids.push(item.id);
  return ids;
}

describe('the schedule', () => {
  test('gives hosts their turns, whoever came first', () => {
    const schedule = filled([
      ['a1', 'a'],
      ['a2', 'a'],
      ['a3', 'a'],
      ['b1', 'b'],
      ['c1', 'c'],
      ['b2', 'b'],
    ]);
    expect(taken(schedule)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  });

  test('sends the urgent first, of one host and of all', () => {
    const schedule = filled([
      ['a-low', 'a', 2],
      ['a-normal', 'a', 1],
      ['b-normal', 'b', 1],
      ['a-urgent', 'a', 0],
      ['c-urgent', 'c', 0],
    ]);
    expect(taken(schedule)).toEqual(['a-urgent', 'c-urgent', 'b-normal', 'a-normal', 'a-low']);
  });

  test('gives a host no more places than it has, and the next one when one is free', () => {
    const items = Array.from({ length: 6 }, (_, index): [string, string] => [`a${index}`, 'a']);
    const schedule = filled(items);
    expect(taken(schedule)).toEqual(['a0', 'a1', 'a2', 'a3']);
    expect(schedule.size).toBe(2);
    schedule.leave('a', { answered: true });
    expect(taken(schedule)).toEqual(['a4']);
  });

  test('gives a host that does not answer a single place until it does', () => {
    const schedule = filled(Array.from({ length: 9 }, (_, index): [string, string] => [`a${index}`, 'a']));
    expect(taken(schedule).length).toBe(4);
    for (let number = 0; number < 3; number += 1) schedule.leave('a', { answered: false });
    expect(taken(schedule)).toEqual([]);
    schedule.leave('a', { answered: false });
    expect(taken(schedule)).toEqual(['a4']);
    schedule.leave('a', { answered: true });
    expect(taken(schedule)).toEqual(['a5', 'a6', 'a7', 'a8']);
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

  test('leaves out what was removed', () => {
    const schedule = filled([
      ['a1', 'a'],
      ['a2', 'a'],
      ['b1', 'b'],
    ]);
    schedule.remove(new Set(['a1', 'b1']));
    expect(taken(schedule)).toEqual(['a2']);
  });
});
