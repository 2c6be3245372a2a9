import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isObject } from '@dragoman/protocols';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { isAlive } from '../../test-support/is-alive.ts';
import { eventually, failureIn, resultIn, TestContext } from './call.contract.ts';
import { StdioAgent } from './stdio-agent.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const open: StdioAgent[] = [];
let context: TestContext;
let folder: string;

beforeEach(() => {
  context = new TestContext();
  folder = mkdtempSync(join(tmpdir(), 'dragoman-'));
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((agent) => agent[Symbol.asyncDispose]()));
  rmSync(folder, { recursive: true });
});

describe('a program', () => {
  test('is not started before the first request', async () => {
    const agent = start('family-agent.mjs');
    expect(children()).toEqual([]);
    await family(agent);
    expect(children()).toHaveLength(1);
  });

  test("gets PATH, HOME and its configured variables, and nothing else of the server's environment", async () => {
    process.env['DRAGOMAN_SECRET_OF_THE_SERVER'] = 'x';
    const agent = start('family-agent.mjs', [], { MODEL: 'small' });
    const { env } = await family(agent);
    expect(Object.keys(env).filter((name) => !name.startsWith('__CF'))).toEqual(['PATH', 'HOME', 'MODEL']);
    expect(env).toMatchObject({ PATH: process.env['PATH'], MODEL: 'small' });
  });

  test('is ended with everything in its group, and forgotten', async () => {
    const agent = start('family-agent.mjs');
    const { pid, child } = await family(agent);
    await agent[Symbol.asyncDispose]();
    expect(isAlive(pid)).toBe(false);
    await eventually(() => isAlive(child)).toBe(false);
    expect(children()).toEqual([]);
    expect(failureIn(await context.ask(agent, 'x'))).toMatchObject({ message: 'The agent was stopped.' });
  });

  test('that ignores SIGTERM is killed after a grace period', async () => {
    const agent = start('family-agent.mjs', ['stubborn']);
    const { pid, child } = await family(agent);
    const ended = agent[Symbol.asyncDispose]();
    for (const _ of ['SIGTERM', 'SIGKILL']) {
      await eventually(() => context.clock.waiting).toBe(1);
      expect([isAlive(pid), isAlive(child)]).toEqual([true, true]);
      context.clock.pass(5000);
    }
    await ended;
    expect(isAlive(pid)).toBe(false);
    await eventually(() => isAlive(child)).toBe(false);
  });

  test('that is killed fails its requests, and its child processes end', async () => {
    const agent = start('family-agent.mjs');
    const { pid, child } = await family(agent);
    process.kill(pid, 'SIGKILL');
    await eventually(() => isAlive(child)).toBe(false);
    await eventually(() => context.logged).toContain("the agent's program failed; it will be started again");
    context.clock.pass(1000);
    expect((await family(agent)).pid).not.toBe(pid);
  });

  test('that ends while idle is started again by the next request', async () => {
    const program =
      "process.stdin.once('data', (line) => { const { request_id } = JSON.parse(line); console.log(JSON.stringify({ request_id, response_kind: 'e2a.complete', body: { result: process.pid } })); process.exit(0); })";
    const agent = run(process.execPath, ['-e', program]);
    const pids = [resultIn(await context.ask(agent, 'x'))];
    await eventually(children).toEqual([]);
    pids.push(resultIn(await context.ask(agent, 'x')));
    expect(new Set(pids).size).toBe(2);
    expect(context.logged).toEqual([]);
  });
});

describe('a program that fails', () => {
  test('is started again after 1, 2, 4 … 60 seconds', async () => {
    const starts = join(folder, 'starts');
    const count = () => readFileSync(starts, 'utf8').split('\n').length - 1;
    const agent = start('crashing-agent.mjs', [starts]);
    const first = failureIn(await context.ask(agent, 'x'));
    expect(first).toMatchObject({
      code: 'agent_failed',
      retryable: true,
      message:
        "The agent's program ended with exit code 7 (it wrote: I have a bad feeling about this) before it had answered.",
    });
    const delays = () => context.log.lines.flatMap((line) => line.fields['delay_ms'] ?? []);
    for (const [index, seconds] of [1, 2, 4, 8, 16, 32, 60, 60].entries()) {
      await eventually(() => delays().length).toBe(index + 1);
      await eventually(() => context.clock.waiting).toBe(1);
      expect(count()).toBe(index + 1);
      context.clock.pass(seconds * 1000 - 1);
      expect(context.clock.waiting).toBe(1);
      context.clock.pass(1);
      await eventually(count).toBe(index + 2);
    }
    await eventually(() => context.clock.waiting).toBe(1);
    expect(delays().slice(0, 8)).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
  });

  test('makes a request wait for the next start if it is near, and fails it otherwise', async () => {
    const agent = start('crashing-agent.mjs', [join(folder, 'starts')]);
    await context.ask(agent, 'x');
    for (const seconds of [1, 2, 4]) {
      const waiting = context.ask(agent, 'x');
      context.clock.pass(seconds * 1000);
      expect(failureIn(await waiting)?.message).toContain('exit code 7');
    }
    const refused = failureIn(await context.ask(agent, 'x'));
    expect(refused).toMatchObject({ retryable: true, details: { retry_after: 8 } });
    expect(refused?.message).toBe(
      "The agent's program ended with exit code 7 (it wrote: I have a bad feeling about this); it is started again in 8 s.",
    );
  });

  test('has its standard error in the log', async () => {
    const agent = start('crashing-agent.mjs', [join(folder, 'starts')]);
    await context.ask(agent, 'x');
    const logged = () => context.log.lines.find((line) => line.message === 'the agent wrote to stderr')?.fields;
    await eventually(logged).toEqual({ agent: 'agent', stderr: 'I have a bad feeling about this' });
  });

  test('because it does not exist is reported', async () => {
    const agent = run('no-such-program-anywhere', []);
    expect(failureIn(await context.ask(agent, 'x'))?.message).toBe("The agent's program could not be started.");
    expect(context.log.lines[0]?.fields['reason']).toBe('program not found: "no-such-program-anywhere"');
  });

  test('is not started again once the agent is closed', async () => {
    const agent = start('crashing-agent.mjs', [join(folder, 'starts')]);
    await context.ask(agent, 'x');
    await agent[Symbol.asyncDispose]();
    expect(context.clock.waiting).toBe(0);
  });
});

test('a flood on standard error is limited in the log', async () => {
  const program = "for (let i = 0; i < 5000; i++) console.error('x'.repeat(3000)); process.exitCode = 1";
  const agent = run(process.execPath, ['-e', program]);
  await context.ask(agent, 'x');
  const left = () => context.log.lines.find((line) => line.message.includes('left out'))?.fields['count'];
  await eventually(left).toBeGreaterThan(4000);
  const lines = context.log.lines.filter((line) => line.message === 'the agent wrote to stderr');
  expect(lines.length).toBeLessThanOrEqual(50);
  expect(String(lines[0]?.fields['stderr'])).toHaveLength(2000);
});

test('an endless line ends the program', async () => {
  const program = "const more = () => process.stdout.write('a'.repeat(1 << 20), more); more()";
  const agent = run(process.execPath, ['-e', program]);
  const failure = failureIn(await context.ask(agent, 'x'));
  expect(failure?.code).toBe('agent_failed');
  await eventually(() => context.log.lines.map((line) => line.fields['error'])).toContain('was ended by SIGKILL');
});

test('a program that closes its output and keeps running fails its requests, and is ended and started again', async () => {
  const program = "process.stdin.once('data', () => process.stdout.end()); setInterval(() => {}, 1000);";
  const agent = run(process.execPath, ['-e', `${program} process.stdin.on('end', () => process.exit(0));`]);
  const answer = context.ask(agent, 'x');
  await eventually(() => children().length).toBe(1);
  await eventually(() => context.clock.waiting).toBe(1);
  context.clock.pass(1000);
  expect(failureIn(await answer)).toMatchObject({
    code: 'agent_failed',
    message: expect.stringContaining('its output'),
  });
  await eventually(() => children()).toEqual([]);
  await eventually(() => context.logged).toContain("the agent's program failed; it will be started again");
});

function start(name: string, args: string[] = [], env: Record<string, string> = {}): StdioAgent {
  return run(process.execPath, [fileURLToPath(new URL(`fixtures/${name}`, import.meta.url)), ...args], env);
}

function run(command: string, args: string[], env: Record<string, string> = {}): StdioAgent {
  const { clock, ids, log } = context;
  const agent = new StdioAgent({ id: 'agent', command, args, env: async () => env, folder, clock, ids, log });
  open.push(agent);
  return agent;
}

async function family(agent: StdioAgent) {
  const result = resultIn(await context.ask(agent, 'who are you?'));
  if (!isObject(result) || !isObject(result['env'])) throw new Error('no family');
  return { pid: Number(result['pid']), child: Number(result['child']), env: result['env'] };
}

function children(): string[] {
  try {
    return readdirSync(join(folder, 'children'));
  } catch {
    return [];
  }
}
