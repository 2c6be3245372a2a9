import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { isAlive } from '../../packages/core/test-support/is-alive.ts';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { NETWORK_TRANSPORTS } from '../../packages/server/src/edges/wire-peer.contract.ts';
import { call } from './call.ts';
import { agentModule, moduleAgent, System } from './system.ts';
import { WireCaller } from './wire-caller.ts';

const GRID = fileURLToPath(new URL('../../examples/environment/grid.mjs', import.meta.url));
const node = process.execPath;
const secrets = mkdtempSync(join(tmpdir(), 'dragoman-namespaces-'));
afterAll(() => rmSync(secrets, { recursive: true, force: true }));
const GREETING = join(secrets, 'greeting');
writeFileSync(GREETING, 'hello\n');
const system = await System.start({
  config: {
    agents: { worker: moduleAgent('worker'), secret: moduleAgent('echo') },
    tools: [agentModule('work-tool')],
    wire: {
      port: 0,
      environments: [GRID],
      proc: {
        max_output_bytes: 2_000,
        commands: {
          say: { command: node, args: ['-e', 'console\\.log\\([0-9]+\\)'] },
          cat: { command: 'cat' },
          sleep: { command: 'sleep', args: ['[0-9]{1,4}'] },
          parent: { command: 'sh', args: ['-c', '.*'], env: { GREETING: `file:${GREETING}` } },
        },
      },
    },
  },
});
afterAll(() => system[Symbol.asyncDispose]());

const permissions = { agents: ['worker'], tools: ['*'], workflows: ['*'], operations: ['*'] };
const ada = await system.caller('ada-agent', { permissions });
const bob = await system.caller('bob-agent', { permissions: { tools: ['proc.cat'] } });

async function connected(key = ada.api_key): Promise<WireCaller> {
  const place = { url: system.url, wire: { url: system.wireUrl, socket: undefined } };
  const open = NETWORK_TRANSPORTS['tcp'];
  if (open === undefined) throw new Error('there is no TCP');
  return new WireCaller(await open(place, key)).greet(key);
}

describe('toolkit', () => {
  test('lists the groups that tools come in, and puts one away for this connection alone', async () => {
    await using agent = await connected();
    const { toolkits } = await agent.ask('toolkit/list/req');
    const rows = (toolkits as JsonObject[]).map(({ name, category, configured }) => [name, category, configured]);
    expect(rows).toEqual(
      expect.arrayContaining([
        ['agents', 'agents', true],
        ['workflows', 'workflows', true],
        ['tools', 'tools', true],
      ]),
    );
    const hide = { toolkit_name: 'agents', config: { enabled: false } };
    expect(await agent.ask('toolkit/configure/req', hide)).toMatchObject({ status: 'ok' });
    const names = async (one: WireCaller) =>
      ((await one.ask('tool/list/req'))['tools'] as JsonObject[]).map(({ name }) => name);
    expect(await names(agent)).not.toContain('worker');
    await using other = await connected();
    expect(await names(other)).toContain('worker');
    expect(await agent.ask('toolkit/configure/req', { toolkit_name: 'agnts' })).toMatchObject({
      status: 'error',
      message: 'there is no toolkit "agnts"; did you mean "agents"?',
    });
  });
});

describe('planning', () => {
  test('keeps the board of a session through a power cut, for its owner alone', async () => {
    const session_id = 'sprint-7';
    let planId: unknown;
    let first: unknown;
    {
      await using agent = await connected();
      ({ plan_id: planId } = await agent.ask('planning/plan/create', { name: 'launch', session_id }));
      const add = (title: string, more: JsonObject = {}) =>
        agent.ask('planning/task/add', { plan_id: String(planId), title, session_id, ...more });
      ({ task_id: first } = await add('write it'));
      const second = await add('ship it', { status: 'todo', deps: [String(first)] });
      expect(second).toMatchObject({ success: true, status: 'todo' });
      const moved = { plan_id: String(planId), task_id: String(first), session_id };
      expect(await agent.ask('planning/task/update', { ...moved, status: 'done' })).toMatchObject({ success: true });
      expect(await agent.ask('planning/task/update', { ...moved, status: 'doen' })).toMatchObject({
        type: 'error',
        code: 'schema_violation',
        message: 'status must be a column of the plan: backlog, todo, in_progress, done; got "doen"',
      });
      const circle = { ...moved, deps: [String(second['task_id'])] };
      expect(await agent.ask('planning/task/update', circle)).toMatchObject({ code: 'schema_violation' });
    }
    await system.kill();
    await system.start();
    await using agent = await connected();
    const { boards } = await agent.ask('planning/plan/board', { session_id });
    expect(boards).toMatchObject([
      {
        plan_id: planId,
        name: 'launch',
        columns: [
          { name: 'backlog', tasks: [] },
          { name: 'todo', tasks: [{ title: 'ship it', deps: [first] }] },
          { name: 'in_progress', tasks: [] },
          { name: 'done', tasks: [{ title: 'write it' }] },
        ],
      },
    ]);
    expect(await agent.ask('planning/plan/list')).toMatchObject({ plans: [] });
    await using bobs = await connected(bob.api_key);
    expect(await bobs.ask('planning/plan/list', { session_id })).toMatchObject({ plans: [] });
  });
});

describe('multi_agent', () => {
  test('a task that is delegated is a journaled request of the caller, and is awaited on another connection', async () => {
    let subagent_id = '';
    let requestId = '';
    {
      await using agent = await connected();
      const spawned = await agent.ask('multi_agent/spawn', { name: 'worker', role: 'helper' });
      expect(spawned).toMatchObject({ type: 'multi_agent/spawn/resp', status: 'READY' });
      subagent_id = String(spawned['subagent_id']);
      const task = { subagent_id, task_name: 'greet', instruction: 'say hello' };
      const delegated = await agent.ask('multi_agent/delegate', task);
      expect(delegated).toMatchObject({ accepted: true });
      requestId = String(delegated['request_id']);
    }
    await using agent = await connected();
    expect(await agent.ask('multi_agent/await', { subagent_id })).toMatchObject({
      subagent_id,
      status: 'COMPLETED',
      result: { text: 'Hello world' },
      error: null,
    });
    const path = `/e2a/requests/${requestId}/responses?after=-1`;
    const frames = await call(system.url, { method: 'GET', path, key: ada.api_key });
    expect([frames.status, await frames.text()]).toEqual([200, expect.stringContaining('Hello')]);
    expect(await agent.ask('multi_agent/list')).toMatchObject({
      subagents: [{ subagent_id, name: 'worker', role: 'helper', status: 'COMPLETED', task_name: 'greet' }],
    });
  });

  test('a running task ends with its subagent; a failed one reports the reason', async () => {
    await using agent = await connected();
    const { subagent_id } = await agent.ask('multi_agent/spawn', { name: 'worker' });
    const task = { subagent_id: String(subagent_id), task_name: 'wait' };
    await agent.ask('multi_agent/delegate', { ...task, instruction: 'hold' });
    expect(await agent.ask('multi_agent/delegate', { ...task, instruction: 'hold' })).toMatchObject({ code: 'busy' });
    const waiting = agent.send('multi_agent/await', { subagent_id: String(subagent_id) });
    await using other = await connected();
    expect(await other.ask('multi_agent/terminate', { subagent_id: String(subagent_id) })).toMatchObject({
      success: true,
    });
    expect(await agent.answer(waiting)).toMatchObject({
      status: 'FAILED',
      error: expect.stringContaining('terminated'),
    });
    const next = await agent.ask('multi_agent/spawn', { name: 'worker' });
    const failing = { subagent_id: String(next['subagent_id']), task_name: 'fail', instruction: 'fail' };
    await agent.ask('multi_agent/delegate', failing);
    expect(await agent.ask('multi_agent/await', { subagent_id: failing.subagent_id })).toMatchObject({
      status: 'FAILED',
      error: expect.stringContaining('it failed'),
    });
  });

  test('an agent that the caller may not reach cannot be spawned, and looks absent', async () => {
    await using agent = await connected();
    for (const name of ['secret', 'nobody']) {
      expect(await agent.ask('multi_agent/spawn', { name })).toMatchObject({
        type: 'error',
        code: 'not_found',
        message: `There is no agent "${name}".`,
      });
    }
  });
});

describe('learn', () => {
  test('keeps feedback per agent, counts it, and gives it back as lines', async () => {
    await using agent = await connected();
    const rated_turn = { prompt: 'p', response: 'r', model: 'small' };
    const feedbacks = [
      { feedback_id: 'f1', polarity: 'positive', score: 1, rated_turn },
      { feedback_id: 'f2', polarity: 'negative', score: -0.5, rated_turn },
      { feedback_id: 'f2', polarity: 'negative', score: 0, rated_turn },
    ];
    expect(await agent.ask('learn/feedback/req', { feedbacks })).toMatchObject({ recorded: 3, new_score: 0.5 });
    await agent.ask('learn/experience/req', { experiences: [{ episode_id: 'e', reward: 1 }] });
    expect(await agent.ask('learn/stats/req', { component_name: 'small' })).toMatchObject({
      components: [{ component_name: 'small', calls_total: 2, calls_success: 1, calls_failed: 1, avg_score: 0.5 }],
    });
    const exported = async (key: string) =>
      (await (await call(system.url, { method: 'GET', path: '/a2e/learning', key })).text())
        .split('\n')
        .filter(Boolean);
    expect((await exported(ada.api_key)).map((line) => JSON.parse(line))).toMatchObject([
      { kind: 'feedback', feedback_id: 'f1' },
      { kind: 'feedback', feedback_id: 'f2', score: 0 },
      { kind: 'experience', episode_id: 'e' },
    ]);
    expect(await exported(bob.api_key)).toEqual([]);
  });

  test.each(['learn/adapt/req', 'learn/refinement/plan/req', 'learn/refinement/history/req'])(
    '%s is refused with the types that are hosted: nothing here changes a model',
    async (type) => {
      await using agent = await connected();
      const hosted = ['learn/experience/req', 'learn/feedback/req', 'learn/stats/req'];
      expect(await agent.ask(type)).toMatchObject({
        type: 'error',
        code: 'unknown_type',
        message: `${type} is not supported by this host; it answers ${hosted.join(', ')}`,
        detail: { hosted },
      });
    },
  );
});

describe('proc', () => {
  /** The output of a process, to its end. */
  async function outputOf(agent: WireCaller, procId: unknown): Promise<string[]> {
    const received: string[] = [];
    for (;;) {
      const next = await agent.peer.next();
      if (next === undefined) throw new Error(`it ended before: ${received}`);
      if (next['type'] !== 'proc/read/event' || next['proc_id'] !== procId) continue;
      const { text, code } = next['data'] as JsonObject;
      if (text === undefined) return [...received, `exit ${code}`];
      received.push(`${next['stream_type']}: ${text}`);
    }
  }
  const spawn = (agent: WireCaller, cmd: string[], more: JsonObject = {}) =>
    agent.ask('proc/spawn/req', { cmd, ...more });

  test('a listed command runs in its own folder, with the variables of the operator alone', async () => {
    await using agent = await connected();
    const { proc_id } = await spawn(agent, [
      'parent',
      '-c',
      'pwd; echo $GREETING $HOME $DRAGOMAN_ADMIN_KEY >&2; ls -A; exit 3',
    ]);
    const output = await outputOf(agent, proc_id);
    const folder = join(system.data, 'proc', String(proc_id));
    expect(output.toSorted()).toEqual(['exit 3', `stderr: hello ${folder}`, `stdout: ${folder}`]);
    await expect.poll(() => existsSync(folder)).toBe(false);
    expect(await agent.ask('proc/status/req', { proc_id: String(proc_id) })).toMatchObject({
      status: 'failed',
      procs: [{ exit_code: 3 }],
    });
  });

  test.each([
    ['a command that is not listed', ['rm', '-rf', '/'], 'cmd[0] must be a command that the operator lists; got "rm"'],
    ['an argument that does not match', ['say', '-e', 'console.log(process.env)'], 'cmd[2] must match'],
    ['an argument that matches in part', ['sleep', '1; rm'], 'cmd[1] must match [0-9]{1,4}; got "1; rm"'],
    ['an argument with a second line', ['sleep', '1\n2'], 'cmd[1] must match'],
    ['an argument too many', ['cat', '/etc/passwd'], 'cmd[1] is one argument too many for "cat"'],
    ['an argument too few', ['sleep'], 'cmd must have 1 arguments after "sleep"; got 0'],
    ['nothing', [], 'cmd must be a list'],
  ])('%s is refused', async (_, cmd, error) => {
    await using agent = await connected();
    expect(await spawn(agent, cmd)).toMatchObject({ ok: false, proc_id: '', error: expect.stringContaining(error) });
  });

  test('a caller without the permission proc.NAME is refused, and cannot choose folder or variables', async () => {
    await using agent = await connected(bob.api_key);
    expect(await spawn(agent, ['sleep', '1'])).toMatchObject({
      ok: false,
      error: expect.stringContaining('you may start cat'),
    });
    expect(await spawn(agent, ['cat'], { cwd: '/' })).toMatchObject({
      ok: false,
      error: expect.stringContaining('cwd'),
    });
    const env = { LD_PRELOAD: 'x.so' };
    expect(await spawn(agent, ['cat'], { env })).toMatchObject({
      ok: false,
      error: expect.stringContaining('LD_PRELOAD'),
    });
  });

  test('what is written to a process it reads, and its output is bounded', async () => {
    await using agent = await connected();
    const { proc_id } = await spawn(agent, ['cat']);
    await agent.ask('proc/write/req', {
      proc_id: String(proc_id),
      data: `hello\n${'x'.repeat(1_999)}\nlost\n`,
      eof: true,
    });
    expect(await outputOf(agent, proc_id)).toEqual([
      'stdout: hello',
      expect.stringContaining('Output past 2000 bytes is left out'),
      'exit 0',
    ]);
    expect(await agent.ask('proc/write/req', { proc_id: String(proc_id), data: 'more' })).toMatchObject({
      code: 'proc_dead',
    });
  });

  test('a process past its time is killed with all it has started', async () => {
    await using agent = await connected();
    const command = 'sleep 300 & echo $!; wait';
    const { proc_id } = await spawn(agent, ['parent', '-c', command], { timeout: 0.5 });
    const [line = '', ...rest] = await outputOf(agent, proc_id);
    expect(rest).toEqual(['exit null']);
    expect(await agent.ask('proc/status/req', { proc_id: String(proc_id) })).toMatchObject({ status: 'timedout' });
    await expect.poll(() => isAlive(Number(line.replace('stdout: ', '')))).toBe(false);
  });

  test('a connection that is gone takes its processes with it; there are four at a time', async () => {
    const pids: number[] = [];
    {
      await using agent = await connected();
      for (let count = 0; count < 4; count++) pids.push(Number((await spawn(agent, ['sleep', '300']))['pid']));
      expect(pids.every(isAlive)).toBe(true);
      expect(await spawn(agent, ['sleep', '300'])).toMatchObject({ type: 'error', code: 'proc_limit' });
    }
    await expect.poll(() => pids.some(isAlive)).toBe(false);
  });

  test('the limit of a connection counts processes that are still starting', async () => {
    await using agent = await connected();
    const ids = Array.from({ length: 8 }, () => agent.send('proc/spawn/req', { cmd: ['sleep', '300'] }));
    const answers: JsonObject[] = [];
    while (answers.length < ids.length) {
      const next = (await agent.peer.next()) ?? {};
      if (ids.includes(String(next['req_id'])) && next['type'] !== 'proc/read/event') answers.push(next);
    }
    expect(answers.filter(({ ok }) => ok === true)).toHaveLength(4);
    expect(answers.filter(({ code }) => code === 'proc_limit')).toHaveLength(4);
  });

  test('a server that is killed leaves a process that its next start ends', async () => {
    const agent = await connected();
    const { pid } = await spawn(agent, ['sleep', '300']);
    await system.kill();
    expect(isAlive(Number(pid))).toBe(true);
    await system.start();
    await expect.poll(() => isAlive(Number(pid))).toBe(false);
    expect(existsSync(join(system.data, 'proc'))).toBe(false);
  });
});

describe('env', () => {
  test('an episode is reset, stepped through and closed; an action it does not have is refused', async () => {
    await using agent = await connected();
    const { obs } = await agent.ask('env/reset/req', { env_name: 'grid', seed: 0, options: { size: 2 } });
    const { episode_id, state } = obs as JsonObject;
    expect(state).toEqual({ at: [0, 0], flag: [0, 1], size: 2 });
    const step = (move: string) => agent.ask('env/step/req', { episode_id: String(episode_id), action: { move } });
    expect(await step('fly')).toMatchObject({ type: 'error', code: 'unknown_action' });
    expect(await step('right')).toMatchObject({ obs: { step_num: 1, reward: -0.1, done: false } });
    const episode = { episode_id: String(episode_id) };
    expect(await agent.ask('env/render/req', { ...episode, mode: 'text' })).toMatchObject({ render: '.A\nF.' });
    await step('left');
    expect(await step('down')).toMatchObject({ obs: { step_num: 3, reward: 1, done: true } });
    expect(await step('up')).toMatchObject({
      type: 'error',
      code: 'runtime_error',
      message: expect.stringContaining('is over'),
    });
    await using other = await connected();
    expect(await other.ask('env/observe/req', episode)).toMatchObject({ code: 'not_found' });
    expect(await agent.ask('env/close/req', episode)).toMatchObject({ closed: true });
    expect(await agent.ask('env/observe/req', episode)).toMatchObject({ code: 'not_found' });
  });

  test('a caller without the permission env.NAME finds no environment', async () => {
    await using agent = await connected(bob.api_key);
    expect(await agent.ask('env/reset/req', { env_name: 'grid' })).toMatchObject({ type: 'error', code: 'not_found' });
  });
});

test('without wire.proc and wire.environments neither capability is there', async () => {
  await using plain = await System.start({ config: { wire: { port: 0 } } });
  const { api_key: key } = await plain.caller('ada-agent', { permissions: { tools: ['*'] } });
  const place = { url: plain.url, wire: { url: plain.wireUrl, socket: undefined } };
  await using agent = await new WireCaller(
    await (NETWORK_TRANSPORTS['tcp'] as never as (p: typeof place, k: string) => Promise<WireCaller['peer']>)(
      place,
      key,
    ),
  ).greet(key);
  expect(await agent.ask('proc/spawn/req', { cmd: ['ls'] })).toMatchObject({ code: 'capability_missing' });
  expect(await agent.ask('env/reset/req', { env_name: 'grid' })).toMatchObject({ code: 'capability_missing' });
});
