import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import * as acp from '@agentclientprotocol/sdk';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Editor, faults, openSession, prompt, startAcp, stdioStream } from './acp-editor.ts';
import { call } from './call.ts';
import { CountingApi } from './counting-api.ts';
import { moduleAgent, System } from './system.ts';
import { workflowOf } from './workflow-caller.ts';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** The stream of `dragoman acp`, which is ended with the test. */
function program(command: string, args: readonly string[], environment = {}): acp.Stream {
  const child = startAcp(command, args, environment);
  onTestFinished(() => void child.kill('SIGKILL'));
  return stdioStream(child);
}

describe('kill -9 of the server in the middle of a turn', () => {
  test('a running turn ends with the reason, a waiting one runs whole, and nothing arrives twice', async () => {
    await using system = await System.start({
      config: {
        port: await freePort(),
        agents: { narrow: { ...moduleAgent('worker'), max_parallel: 1 } },
      },
    });
    const { api_key: key } = await system.caller('editor-agent');
    const connect = (agent: string) =>
      program(system.command, ['--url', system.url, '--agent', agent], { DRAGOMAN_KEY: key });

    // A running turn of an agent cannot continue: it ends with a reason, and the session stays.
    const running = new Editor();
    const prompted = running.run(connect('narrow'), async (context) => {
      const { sessionId } = await openSession(context);
      await expect(prompt(context, sessionId, 'hold')).rejects.toMatchObject({
        code: -32603,
        data: { e2a_code: 'E2A.INTERRUPTED', retryable: true },
      });
      const before = running.text;
      expect(await prompt(context, sessionId)).toEqual({ stopReason: 'end_turn' });
      return before;
    });
    await expect.poll(() => running.text, { timeout: 20_000 }).toBe('begun');
    // One that waits for its turn runs whole.
    const waiting = new Editor();
    const queued = waiting.run(connect('narrow'), async (context) => {
      const { sessionId } = await openSession(context);
      return prompt(context, sessionId, 'later');
    });
    const waits = async () => {
      const listed = await call(system.url, { path: '/e2a/requests?agent=narrow', key });
      return ((await listed.json()) as { total: number }).total;
    };
    await expect.poll(waits, { timeout: 20_000 }).toBe(2);

    await system.kill();
    await system.start();
    expect(await prompted).toBe('begun');
    expect(running.text).toBe('begunHello world');
    expect(await queued).toEqual({ stopReason: 'end_turn' });
    expect(waiting.text).toBe('Hello world');
    expect(faults.splice(0)).toEqual([]);
  });
});

describe('kill -9 of the server in the middle of a workflow from an editor', () => {
  test('the question stays open, the rest arrives, and nothing arrives twice', async () => {
    await using api = await CountingApi.start();
    api.answers('GET /plan', { release: 'v7' });
    api.behaviours.set('GET /slow', () => {});
    await using system = await System.start({
      config: {
        port: await freePort(),
        gate: { allow: [api.host] },
        apis: { counting: { base_url: api.url } },
        workflows: { cache_seconds: 0 },
      },
    });
    const permissions = { operations: ['*'], apis: ['*'] };
    const { api_key: key } = await system.caller('editor-agent', { permissions });
    const slow = () => api.count('GET /slow');
    const get = (path: string) => ({
      ApiCall: { method: 'GET', url: `${api.url}/${path}`, outputPath: `/workflow/${path}` },
    });
    const workflow = workflowOf({
      plan: get('plan'),
      ask: { AskApproval: { title: 'Deploy {/workflow/plan.release}?', outputPath: '/workflow/approval' } },
      slow: get('slow'),
    });

    const editor = new Editor();
    let answer = (_: string) => {};
    editor.permit = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    const stream = program(system.command, ['--url', system.url, '--agent', 'workflows'], { DRAGOMAN_KEY: key });
    const turn = editor.run(stream, async (context) => {
      const { sessionId } = await openSession(context);
      return prompt(context, sessionId, JSON.stringify({ workflow }));
    });
    await expect.poll(() => editor.permissions.length, { timeout: 20_000 }).toBe(1);
    await system.kill();
    // The person answers while the server is away.
    answer('allow');
    await system.start();
    await expect.poll(slow, { timeout: 30_000 }).toBe(1);
    await system.kill();
    api.answers('GET /slow', { done: true });
    await system.start();
    expect(await turn).toEqual({ stopReason: 'end_turn' });
    expect(editor.permissions).toMatchObject([{ toolCall: { title: 'Deploy v7?' } }]);
    const tools = () =>
      editor.updates.flatMap(({ update }) =>
        update.sessionUpdate === 'tool_call' || update.sessionUpdate === 'tool_call_update'
          ? [`${update.toolCallId.replace(/^q_.*/, 'question').split(':').at(-1)} ${update.status}`]
          : [],
      );
    await expect
      .poll(tools)
      .toEqual([
        'plan in_progress',
        'plan completed',
        'ask in_progress',
        'question pending',
        'question completed',
        'ask completed',
        'slow in_progress',
        'slow completed',
      ]);
    expect([api.count('GET /plan'), slow()]).toEqual([1, 2]);
    expect(faults.splice(0)).toEqual([]);
  });
});

describe('dragoman acp --config', () => {
  test('runs the agents of a configuration in its own process, and keeps their conversations in --data', async () => {
    await using system = System.create();
    const config = join(system.folder, 'own.yaml');
    const agents = { worker: moduleAgent('worker'), asker: moduleAgent('asker') };
    writeFileSync(config, JSON.stringify({ default_agent: 'worker', agents }));
    const args = ['--config', config, '--data', join(system.folder, 'own')];
    let sessionId = '';
    const editor = new Editor();
    const child = startAcp(system.command, args);
    const exited = once(child, 'exit');
    await editor.run(stdioStream(child), async (context) => {
      const opened = await openSession(context);
      ({ sessionId } = opened);
      expect(opened.configOptions).toMatchObject([{ currentValue: 'worker', options: [{}, {}] }]);
      expect(await prompt(context, sessionId, 'the first thing')).toEqual({ stopReason: 'end_turn' });
      expect(editor.text).toBe('Hello world');
    });
    child.stdin?.end();
    expect((await exited)[0]).toBe(0);
    const later = new Editor();
    await later.run(program(system.command, args), async (context) => {
      await context.request(acp.methods.agent.session.load, { sessionId, cwd: '/work', mcpServers: [] });
      expect(later.updates[0]).toMatchObject({ update: { content: { text: 'the first thing' } } });
      expect(later.text).toBe('Hello world');
    });
    expect(faults.splice(0)).toEqual([]);
  });

  test('and --server together are refused', async () => {
    await using system = System.create();
    const child = startAcp(system.command, ['--config', 'x.yaml', '--server', 'http://127.0.0.1:9']);
    expect((await once(child, 'exit'))[0]).toBe(2);
  });
});
