import { afterAll, describe, expect, test } from 'vitest';
import { allFrames, call } from './call.ts';
import { SocketClient } from './socket-client.ts';
import { agentModule, System } from './system.ts';

const system = await System.start({
  config: {
    default_agent: 'echo',
    tools: [agentModule('tools')],
    agents: {
      echo: { driver: 'module', module: agentModule('echo') },
      held: { driver: 'module', module: agentModule('held'), max_parallel: 1 },
    },
  },
});
afterAll(() => system[Symbol.asyncDispose]());
const { api_key: KEY } = await system.caller('counted-agent', {
  permissions: { agents: ['*'], tools: ['*'], operations: ['*'] },
});
const { api_key: POOR } = await system.caller('limited-agent', {
  permissions: { agents: ['*'] },
  limits: { requests_per_minute: 1 },
});

describe('GET /metrics', () => {
  test('is read without a key, as text for Prometheus', async () => {
    const answer = await call(system.url, { path: '/metrics' });
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    const text = await answer.text();
    for (const name of ['process_cpu_seconds_total', 'process_resident_memory_bytes', 'nodejs_eventloop_lag_seconds']) {
      expect(text).toContain(`\n${name} `);
    }
    // Every line is a comment or a sample.
    for (const line of text.split('\n')) expect(line).toMatch(/^(?:$|# (?:HELP|TYPE) |[a-z]\w*(?:\{[^{}]*\})? \S+$)/);
  });

  test('counts requests, frames, outcomes and commits', async () => {
    const before = await read();
    await allFrames(await send({ request_id: 'one', params: { content: 'a b c' }, is_stream: true }));
    await allFrames(await send({ request_id: 'one', params: { content: 'a b c' }, is_stream: true }));
    await allFrames(await send({ request_id: 'two', method: 'session.fork' }));
    const after = await read();
    const grown = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0);
    expect(grown('dragoman_requests_accepted_total')).toBe(2);
    expect(grown('dragoman_requests_finished_total{outcome="succeeded"}')).toBe(1);
    expect(grown('dragoman_requests_finished_total{outcome="E2A.UNKNOWN_METHOD"}')).toBe(1);
    expect(grown('dragoman_frames_total')).toBeGreaterThanOrEqual(5);
    expect(grown('dragoman_http_requests_total{method="POST",route="/e2a",status="2xx"}')).toBe(3);
    expect(grown('dragoman_http_request_duration_seconds_count{method="POST",route="/e2a"}')).toBe(3);
    const commits = grown('dragoman_store_commits_total');
    expect(commits).toBeGreaterThanOrEqual(3);
    expect(grown('dragoman_store_writes_total')).toBeGreaterThanOrEqual(commits);
    expect(grown('dragoman_store_commit_seconds_total')).toBeGreaterThan(0);
  });

  test('counts executions of workflows and calls of tools as it counts requests', async () => {
    const before = await read();
    const lines = [
      {
        type: 'operationUpdate',
        operationId: 'now',
        operation: { GetCurrentDateTime: { outputPath: '/workflow/now' } },
      },
      { type: 'beginExecution', executionId: 'counted-1', operationOrder: ['now'] },
    ];
    const workflow = lines.map((line) => JSON.stringify(line)).join('\n');
    await send({
      request_id: 'three',
      agent_ref: { id: 'workflows' },
      method: 'workflow.execute',
      params: { workflow },
    });
    await send({ request_id: 'four', agent_ref: { id: 'tools' }, method: 'say', params: { content: 'hello' } });
    const after = await read();
    const grown = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0);
    const counted = ['request', 'execution', 'tool'].map((kind) => [
      grown(`dragoman_runs_accepted_total{kind="${kind}"}`),
      grown(`dragoman_runs_finished_total{kind="${kind}",outcome="succeeded"}`),
      after.get(`dragoman_runs_running{kind="${kind}"}`),
      after.get(`dragoman_runs_waiting{kind="${kind}"}`),
    ]);
    expect(counted).toEqual([
      [2, 2, 0, 0],
      [1, 1, 0, 0],
      [1, 1, 0, 0],
    ]);
  });

  test('reports what is open, running and waiting now', async () => {
    const socket = await SocketClient.open(system.url, KEY);
    const held = (id: string) => send({ request_id: id, agent_ref: { id: 'held' }, is_stream: true, params: {} });
    const first = await held('held-1');
    // It has no frame, and so no headers, before the first is over.
    const second = held('held-2');
    await expect.poll(async () => (await read()).get('dragoman_requests_waiting')).toBe(1);
    const now = await read();
    expect(now.get('dragoman_requests_running')).toBe(1);
    expect(now.get('dragoman_open_streams')).toBe(1);
    expect(now.get('dragoman_open_sockets')).toBe(1);
    expect(now.get('dragoman_open_connections')).toBeGreaterThanOrEqual(3);
    socket.close();
    for (const id of ['held-1', 'held-2']) {
      await call(system.url, { method: 'POST', path: `/e2a/requests/${id}/cancel`, key: KEY });
    }
    for (const stream of [first, await second]) await allFrames(stream);
    await expect.poll(async () => (await read()).get('dragoman_open_sockets')).toBe(0);
    await expect.poll(async () => (await read()).get('dragoman_open_streams')).toBe(0);
  });

  test('counts callers that are refused for too many requests', async () => {
    const statuses = [];
    for (const id of ['p1', 'p2']) statuses.push((await send({ request_id: id }, POOR)).status);
    expect(statuses).toEqual([200, 429]);
    expect((await read()).get('dragoman_rate_limited_total')).toBe(1);
  });

  test('has nothing in it that a caller wrote, and the same number of lines for any number of callers', async () => {
    const before = (await read()).size;
    for (let number = 0; number < 50; number++) {
      await call(system.url, { path: `/canary-path-${number}?canary=${number}`, key: KEY });
      await call(system.url, { method: 'PROPFIND', path: `/e2a/requests/canary-${number}/responses`, key: KEY });
    }
    await allFrames(
      await send({ request_id: 'canary-request', session_id: 'canary-session', method: 'canary-method' }),
    );
    const text = await (await call(system.url, { path: '/metrics' })).text();
    expect(text).not.toMatch(/canary|PROPFIND|counted-agent|limited-agent|echo|held/);
    expect((await read()).size).toBeLessThan(before + 60);
  });
});

function send(envelope: object, key = KEY) {
  const accept = 'is_stream' in envelope ? 'application/x-ndjson' : 'application/json';
  const json = { method: 'chat.send', params: { content: 'x' }, ...envelope };
  return call(system.url, { method: 'POST', path: '/e2a', key, accept, json });
}

/** Every sample, by its name and labels. */
async function read(): Promise<Map<string, number>> {
  const text = await (await call(system.url, { path: '/metrics' })).text();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
}
