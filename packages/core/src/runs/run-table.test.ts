import { describe, expect, test } from 'vitest';
import { TestClock } from '../../test-support/test-clock.ts';
import { ActiveRun, type RunKind } from './active-run.ts';
import { RunTable } from './run-table.ts';

const ADA = { id: 'ada', kind: 'agent' } as const;

class TestRun extends ActiveRun {
  readonly kind: RunKind;

  constructor(kind: RunKind = 'request') {
    super();
    this.kind = kind;
  }
}

class OtherRun extends TestRun {}

async function* windows(...given: readonly (readonly number[] | Error)[]): AsyncGenerator<readonly number[]> {
  for (const one of given) {
    if (one instanceof Error) throw one;
    yield one;
  }
}

function setUp() {
  const clock = new TestClock();
  const table = new RunTable({ clock });
  table.setLimit('lane', 1);
  /** A run that works until it ends. */
  const start = (run: ActiveRun, name: string) =>
    table.start(run, () => new Promise((resolve) => run.onEnd(resolve)), { name });
  return { clock, table, start };
}

describe('a place', () => {
  test('has a slot that goes over to the run, which gives it back when it is over', async () => {
    const { table } = setUp();
    const place = table.admit('request', 'lane', ADA);
    const run = new TestRun();
    const done = table.start(run, () => new Promise((resolve) => run.onEnd(resolve)), { name: 'a', place });
    place.release();
    expect(table.admit('request', 'lane', ADA).hasSlot).toBe(false);
    run.end(new Error('over'));
    await done;
    expect(table.admit('request', 'lane', ADA).hasSlot).toBe(true);
  });

  test('that no run took is free again', () => {
    const { table } = setUp();
    table.admit('request', 'lane', ADA).release();
    expect(table.admit('request', 'lane', ADA).hasSlot).toBe(true);
  });

  test('of one lane does not count for another', () => {
    const { table } = setUp();
    table.admit('request', 'lane', ADA);
    expect(table.admit('execution', 'other', ADA).hasSlot).toBe(true);
  });
});

describe('the turn of a run', () => {
  test('comes when the one before it is over', async () => {
    const { table, start } = setUp();
    const [first, second] = [new TestRun(), new TestRun('execution')];
    void start(first, 'a');
    await table.turn(first, { lane: 'lane', principal: ADA, priority: 1 });
    const turn = table.turn(second, { lane: 'lane', principal: ADA, priority: 1 });
    table.add(second, 'b');
    expect(table.load).toMatchObject({ request: { running: 1, waiting: 0 }, execution: { running: 0, waiting: 1 } });
    table.remove(first);
    await turn;
    expect(table.load).toMatchObject({ request: { running: 0, waiting: 0 }, execution: { running: 1, waiting: 0 } });
  });

  test('never comes for one that ends first', async () => {
    const { table } = setUp();
    table.admit('request', 'lane', ADA);
    const run = new TestRun();
    const turn = table.turn(run, { lane: 'lane', principal: ADA, priority: 1 });
    run.end(new Error('enough'));
    await expect(turn).rejects.toThrow('enough');
    expect(run.isWaiting).toBe(false);
  });
});

test('a run is found by its name and type, and gives way to another of its name without being lost', async () => {
  const { table, start } = setUp();
  const [first, second] = [new OtherRun(), new OtherRun()];
  void start(first, 'a');
  void start(second, 'a');
  expect(table.get(OtherRun, 'a')).toBe(second);
  expect(table.get(RunOfNobody, 'a')).toBeUndefined();
  expect(table.values(TestRun)).toHaveLength(2);
  first.end(new Error('over'));
  await expect.poll(() => table.values(TestRun)).toEqual([second]);
  expect(table.get(OtherRun, 'a')).toBe(second);
});

class RunOfNobody extends TestRun {}

describe('a stop', () => {
  test('lets an execution ask targets and call tools until it has ended', async () => {
    const { table, start } = setUp();
    const execution = new TestRun('execution');
    void start(execution, 'e');
    const drained = table.drain(1_000);
    expect(() => table.admit('execution', 'lane', ADA)).toThrow('The server is stopping.');
    const place = table.admit('request', 'lane', ADA);
    execution.end(new Error('over'));
    await new Promise(setImmediate);
    expect(() => table.admit('request', 'lane', ADA)).toThrow('The server is stopping.');
    expect(table.stopped.aborted).toBe(false);
    place.release();
    await drained;
    expect(table.stopped.aborted).toBe(true);
    expect(() => table.requireOpen('tool')).toThrow('The server is stopping.');
  });

  test('that has waited long enough interrupts what runs, the newest first, and whatever starts after that', async () => {
    const { clock, table, start } = setUp();
    const ended: string[] = [];
    const run = (kind: RunKind, name: string) => {
      const one = new TestRun(kind);
      one.onEnd(() => ended.push(name));
      void start(one, name);
      return one;
    };
    run('execution', 'e');
    run('request', 'r');
    run('tool', 't');
    const place = table.admit('request', 'lane', ADA);
    const drained = table.drain(1_000);
    clock.pass(999);
    expect(ended).toEqual([]);
    clock.pass(1);
    expect(ended).toEqual(['t', 'r', 'e']);
    run('request', 'late');
    expect(ended).toEqual(['t', 'r', 'e', 'late']);
    place.release();
    await drained;
    expect(table.load.request).toEqual({ running: 0, waiting: 0 });
  });
});

describe('recovery', () => {
  test('resumes what was left, kind by kind', async () => {
    const { table, start } = setUp();
    const resumed: string[] = [];
    const left = (prefix: string) => ({
      unfinished: () => windows([1, 2]),
      resume: async (row: number) => {
        resumed.push(`${prefix}${row}`);
        // What it brings about is recorded, but was not left by anybody.
        void start(new TestRun(), `b${row}`);
        return undefined;
      },
    });
    table.recovers(left('a'));
    table.recovers(left('b'));
    await table.recover();
    expect(resumed).toEqual(['a1', 'a2', 'b1', 'b2']);
  });

  test('resumes the others when one cannot be resumed: they are claimed, so no other process does', async () => {
    const { table } = setUp();
    const resumed: number[] = [];
    table.recovers({
      unfinished: () => windows([1, 2, 3]),
      resume: async (row: number) => {
        if (row === 1) throw new Error('damaged');
        resumed.push(row);
        return undefined;
      },
    });
    await expect(table.recover()).rejects.toThrow('damaged');
    expect(resumed).toEqual([2, 3]);
  });

  test('resumes the runs of one kind when those of another cannot be listed', async () => {
    const { table } = setUp();
    const resumed: number[] = [];
    table.recovers({ unfinished: () => windows(new Error('damaged')), resume: async () => undefined });
    table.recovers({
      unfinished: () => windows([1, 2]),
      resume: async (row: number) => {
        resumed.push(row);
        return undefined;
      },
    });
    await expect(table.recover()).rejects.toThrow('damaged');
    expect(resumed).toEqual([1, 2]);
  });

  test('resumes what was claimed before the rest could not be', async () => {
    const { table } = setUp();
    const resumed: number[] = [];
    table.recovers({
      unfinished: () => windows([1, 2], new Error('the database is broken')),
      resume: async (row: number) => {
        resumed.push(row);
        return undefined;
      },
    });
    await expect(table.recover()).rejects.toThrow('the database is broken');
    expect(resumed).toEqual([1, 2]);
  });

  test('waits for ends to be recorded, but not for long', async () => {
    const { clock, table } = setUp();
    let isOver = false;
    table.recovers({
      unfinished: () => windows([1]),
      resume: async () => ({ ended: new Promise(() => {}) }),
    });
    const recovered = table.recover().then(() => {
      isOver = true;
    });
    await new Promise(setImmediate);
    expect(isOver).toBe(false);
    clock.pass(2_000);
    await recovered;
  });
});
