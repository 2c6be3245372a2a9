import { describe, expect, test } from 'vitest';
import { TestClock } from '../../../core/test-support/test-clock.ts';
import type { Config } from '../config/config-schema.ts';
import { type Reloadable, Reloading } from './reload.ts';

/** A part that records its configurations. */
class Part implements Reloadable {
  readonly put: Config[] = [];
  readonly dropped: Config[] = [];
  fault: Error | undefined;
  stale = false;

  readonly names: readonly string[];

  constructor(...names: string[]) {
    this.names = names;
  }

  isStale(): boolean {
    return this.stale;
  }

  async prepare(config: Config) {
    if (this.fault !== undefined) throw this.fault;
    return {
      put: () => {
        this.put.push(config);
      },
      drop: async () => {
        this.dropped.push(config);
      },
    };
  }
}

test('only parts whose configuration is different are made again; what no part has waits for the next start', async () => {
  const [agents, gate] = [new Part('agents'), new Part('gate.allow')];
  const reloading = new Reloading(
    { port: 1, gate: { allow: ['a:1'], connect_ms: 100 } },
    [agents, gate],
    new TestClock(),
  );
  const next: Config = { port: 2, gate: { allow: ['b:1'], connect_ms: 200 } };
  expect(await reloading.reload(next)).toEqual({ changed: ['gate.allow'], waiting: ['port', 'gate.connect_ms'] });
  expect([agents.put, gate.put]).toMatchObject([[], [next]]);
});

test('pending changes are reported each time, applied ones only once', async () => {
  const reloading = new Reloading({ port: 1, default_agent: 'a' }, [new Part('default_agent')], new TestClock());
  const next: Config = { port: 2, default_agent: 'b' };
  expect(await reloading.reload(next)).toEqual({ changed: ['default_agent'], waiting: ['port'] });
  expect(await reloading.reload(next)).toEqual({ changed: [], waiting: ['port'] });
  expect(await reloading.reload({ port: 1 }, { allowEmpty: true })).toEqual({
    changed: ['default_agent'],
    waiting: [],
  });
});

test('when one part fails, none changes, and the next try starts from the same configuration', async () => {
  const [first, second] = [new Part('agents'), new Part('tools')];
  const reloading = new Reloading({}, [first, second], new TestClock());
  const next: Config = { agents: {}, tools: [] };
  second.fault = new Error('no such file');
  await expect(reloading.reload(next)).rejects.toThrow('no such file');
  expect([first.put, first.dropped, second.put]).toMatchObject([[], [next], []]);
  second.fault = undefined;
  expect((await reloading.reload(next)).changed).toEqual(['agents', 'tools']);
  expect([first.put, second.put]).toMatchObject([[next], [next]]);
});

test('a part whose files were changed is made again though its configuration is the same', async () => {
  const part = new Part('tools');
  const reloading = new Reloading({ tools: [] }, [part], new TestClock());
  expect((await reloading.reload({ tools: [] })).changed).toEqual([]);
  part.stale = true;
  expect((await reloading.reload({ tools: [] })).changed).toEqual(['tools']);
  expect(part.put).toHaveLength(1);
});

test('two changes that come at once are made one after the other', async () => {
  const part = new Part('default_agent');
  const reloading = new Reloading({}, [part], new TestClock());
  await Promise.all([reloading.reload({ default_agent: 'a' }), reloading.reload({ default_agent: 'b' })]);
  expect(part.put).toMatchObject([{ default_agent: 'a' }, { default_agent: 'b' }]);
});

test('a part that is not ready in time is given up, dropped should it be after all, and keeps no change after it waiting', async () => {
  const clock = new TestClock();
  const [first, second] = [new Part('agents'), new Part('tools')];
  const reloading = new Reloading({}, [first, second], clock);
  const next: Config = { agents: {}, tools: [] };
  const prepare = second.prepare.bind(second);
  let beReady = () => {};
  second.prepare = async (config) => {
    await new Promise<void>((resolve) => {
      beReady = resolve;
    });
    return prepare(config);
  };
  const stuck = expect(reloading.reload(next)).rejects.toThrow('tools: not ready after 60 s');
  const after = reloading.reload({ agents: {} });
  await expect.poll(() => clock.waiting).toBe(1);
  clock.pass(60_000);
  await stuck;
  expect((await after).changed).toEqual(['agents']);
  expect([first.dropped, second.dropped, clock.waiting]).toMatchObject([[next], [], 0]);
  beReady();
  await expect.poll(() => second.dropped).toMatchObject([next]);
  expect(second.put).toMatchObject([]);
});

describe('a configuration that may be cut off', () => {
  const running: Config = { host: '127.0.0.1', port: 1, agents: { echo: { driver: 'module', module: 'echo.mjs' } } };
  const start = (config = running) => {
    const part = new Part('agents');
    return { part, reloading: new Reloading(config, [part], new TestClock()) };
  };

  test.each<[string, Config, Config]>([
    ['is empty', { host: '127.0.0.1', port: 7420 }, running],
    ['has an empty list of agents', { ...running, agents: {} }, running],
    ['is empty, and never had agents', { port: 7420 }, { port: 1, limits: { requests_per_minute: 7 } }],
  ])('is refused when it %s, and nothing changes', async (_, next, before) => {
    const { part, reloading } = start(before);
    await expect(reloading.reload(next)).rejects.toMatchObject({ code: 'config_cut_off' });
    expect(part.put).toMatchObject([]);
    expect((await reloading.reload(before)).changed).toEqual([]);
  });

  test('is accepted when it has a version, or when the operator allows it', async () => {
    expect(await start().reloading.reload({ ...running, agents: {}, version: 1 })).toEqual({
      changed: ['agents'],
      waiting: [],
    });
    const { changed } = await start().reloading.reload({ ...running, agents: {} }, { allowEmpty: true });
    expect(changed).toEqual(['agents']);
  });

  test('is accepted when there was nothing before', async () => {
    expect((await start({ port: 1 }).reloading.reload({ port: 2 })).waiting).toEqual(['port']);
  });
});
