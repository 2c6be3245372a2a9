import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { isAlive } from '../../packages/core/test-support/is-alive.ts';
import type { ToolDefinition } from '../../packages/protocols/src/a2e-wire/capabilities/tool.ts';
import type { Config } from '../../packages/server/src/config/config-schema.ts';
import { websocketPeer } from '../../packages/server/src/edges/wire-peer.contract.ts';
import { allFrames, call } from './call.ts';
import { CountingApi } from './counting-api.ts';
import { Served } from './served.ts';
import { agentModule, moduleAgent } from './system.ts';
import { WireCaller } from './wire-caller.ts';
import { WorkflowCaller, workflowOf } from './workflow-caller.ts';

// SIGHUP to the real command: what it takes over while it runs, and what it leaves as it was.

const api = await CountingApi.start();
const MCP_SERVER = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
);
const first = (folder: string): Config => ({
  port: 0,
  default_agent: 'echo',
  agents: { echo: moduleAgent('echo'), old: moduleAgent('echo'), desk: patient('first', folder) },
});
const served = await Served.start(first);
afterAll(async () => {
  await served[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});
const { url, folder } = served;
const FIRST = first(folder);
const key = await served.caller('ada-agent');

test('agents, tools, MCP servers, APIs, the way out and limits follow the file; what runs is not disturbed', async () => {
  const running = await call(url, {
    method: 'POST',
    path: '/e2a/agents/desk',
    key,
    accept: NDJSON,
    json: envelope('r1'),
  });
  const lines = createInterface({ input: running.message })[Symbol.asyncIterator]();
  const [name, pid] = JSON.parse((await lines.next()).value).body.delta.split(' ');
  expect(name).toBe('first');

  writeFileSync(served.file('tools.mjs'), tool('hello'));
  writeFileSync(served.file('pause.jsonl'), workflowOf({ wait: { Wait: { duration: 1 } } }));
  const second: Config = {
    ...FIRST,
    default_agent: 'desk',
    agents: { echo: moduleAgent('echo'), desk: patient('second', folder), added: moduleAgent('words') },
    tools: [served.file('tools.mjs'), { name: 'pause', workflow: served.file('pause.jsonl') }],
    mcp_servers: { every: { command: process.execPath, args: [MCP_SERVER, 'stdio'] } },
    apis: { shop: { base_url: api.url, description: 'a shop' } },
    gate: { allow: [api.host] },
    limits: { requests_per_minute: 77 },
  };
  const { changed, waiting } = await reloaded(second);
  expect([...changed].sort()).toEqual(
    ['agents', 'apis', 'default_agent', 'gate.allow', 'limits.requests_per_minute', 'mcp_servers', 'tools'].sort(),
  );
  expect(waiting).toEqual([]);

  // The first program ends its answer, and then itself.
  writeFileSync(served.file('go'), '');
  expect(JSON.parse((await lines.next()).value).body.result).toEqual({ name: 'first' });
  await expect.poll(() => isAlive(Number(pid))).toBe(false);

  // The second answers from now on, including requests that name no agent.
  const answer = await call(url, { method: 'POST', path: '/e2a', key, accept: NDJSON, json: envelope('r2') });
  expect((await allFrames(answer)).join('')).toContain('"name":"second"');
  expect(answer.headers['x-ratelimit-limit']).toBe('77');
  expect((await ask('added', 'r3')).status).toBe(200);
  expect((await ask('old', 'r4')).status).toBe(404);
  expect(await toolNames()).toEqual(expect.arrayContaining(['hello', 'every__echo']));
  expect(await discovered()).toEqual(expect.arrayContaining(['added', 'desk', 'echo']));
  expect(await discovered()).not.toContain('old');
  api.answers('GET /n', 21);
  const n = { ApiCall: { method: 'GET', url: `${api.url}/n`, outputPath: '/workflow/n' } };
  expect(await new WorkflowCaller({ url }, key).execute(workflowOf({ n }))).toMatchObject({ results: { n: 21 } });
});

test('a file of agents or tools that was changed is read again, though the configuration is the same', async () => {
  writeFileSync(served.file('tools.mjs'), tool('goodbye'));
  utimesSync(served.file('tools.mjs'), 1000, 1000);
  served.signal('SIGHUP');
  expect(await served.event('reloaded')).toMatchObject({ changed: ['tools'], waiting: [] });
  expect(await toolNames()).toContain('goodbye');
  expect(await toolNames()).not.toContain('hello');
});

test('so is the workflow of a tool', async () => {
  writeFileSync(served.file('pause.jsonl'), workflowOf({ wait: { Wait: { duration: '{{ms}}' } } }));
  utimesSync(served.file('pause.jsonl'), 1000, 1000);
  served.signal('SIGHUP');
  expect(await served.event('reloaded')).toMatchObject({ changed: ['tools'], waiting: [] });
  const pause = (await tools()).find(({ name }) => name === 'pause');
  expect(pause?.input_parameters).toMatchObject([{ name: 'ms', required: true }]);
});

test('what needs a new start is named, and stays', async () => {
  const { changed, waiting } = await reloaded({ ...FIRST, port: 1, request_timeout_ms: 1000, wire: { port: 0 } });
  expect(changed).toContain('agents');
  expect(waiting).toEqual(['port', 'wire.port', 'request_timeout_ms']);
  expect((await ask('old', 'r5')).status).toBe(200);
});

test.each<[string, string, RegExp]>([
  ['that cannot be read', 'agents: { echo: [', /line 1/],
  ['with a wrong value', JSON.stringify({ ...FIRST, port: 'seven' }), /port must be/],
  [
    'with an agent that cannot be opened',
    JSON.stringify({ ...FIRST, agents: { added: { driver: 'module', module: served.file('none.mjs') } }, tools: [] }),
    /file not found/,
  ],
])('of a file %s nothing is applied, and the reason is logged', async (_, text, reason) => {
  const from = served.log.length;
  served.write(text);
  served.signal('SIGHUP');
  await expect.poll(() => served.log.slice(from)).toMatch(reason);
  expect(served.log.slice(from)).toContain('Reload failed; keeping the running configuration');
  expect((await ask('old', `again-${from}`)).status).toBe(200);
  expect((await ask('added', `added-${from}`)).status).toBe(404);
});

test('stored workflows follow the file and the files it names, and a circle leaves them as they were', async () => {
  const file = served.file('rest.jsonl');
  const config: Config = { ...FIRST, workflows: { stored: { rest: { file } } } };
  const rest = async () => {
    const { json } = await new WorkflowCaller({ url }, key).get('workflows');
    return json['workflows'];
  };
  writeFileSync(file, workflowOf({ wait: { Wait: { duration: '{{ms}}' } } }));
  expect((await reloaded(config)).changed).toContain('workflows.stored');
  expect(await rest()).toMatchObject([{ name: 'rest', inputs: { required: ['ms'] } }]);

  writeFileSync(file, workflowOf({ wait: { Wait: { duration: '{{seconds}}' } } }));
  utimesSync(file, 1, 1);
  expect((await reloaded(config)).changed).toContain('workflows.stored');
  expect(await rest()).toMatchObject([{ inputs: { required: ['seconds'] } }]);

  writeFileSync(file, workflowOf({ again: { RunWorkflow: { name: 'rest', outputPath: '/workflow/out' } } }));
  const from = served.log.length;
  served.signal('SIGHUP');
  await expect.poll(() => served.log.slice(from)).toMatch(/in a circle: rest → rest/);
  expect(await rest()).toMatchObject([{ inputs: { required: ['seconds'] } }]);
});

/** A program that is called by a name, and ends its answers when a file is there. */
function patient(name: string, at: string) {
  const args = [agentModule('patient'), name, join(at, 'go')];
  return { driver: 'stdio' as const, command: process.execPath, args };
}

/** Rewrites the file, and waits until the server logs the result. */
function reloaded(config: Config): Promise<{ changed: string[]; waiting: string[] }> {
  served.write(JSON.stringify(config));
  served.signal('SIGHUP');
  return served.event('reloaded');
}

function envelope(requestId: string) {
  return { request_id: requestId, method: 'chat.send', params: { content: 'hello' }, is_stream: true };
}

function ask(agent: string, requestId: string) {
  return call(url, { method: 'POST', path: `/e2a/agents/${agent}`, key, json: envelope(requestId) });
}

async function toolNames(): Promise<string[]> {
  return (await tools()).map(({ name }) => name);
}

async function tools(): Promise<ToolDefinition[]> {
  await using wire = new WireCaller(await websocketPeer({ url }));
  await wire.answer(wire.send('handshake/req', { auth_token: key }));
  const { tools } = await wire.answer(wire.send('tool/list/req'));
  return tools as unknown as ToolDefinition[];
}

async function discovered(): Promise<string[]> {
  const answer = await call(url, { path: '/agents', key });
  const { agents } = (await answer.json()) as { agents: { agent_card: { agent_id: string } }[] };
  return agents.map(({ agent_card }) => agent_card.agent_id);
}

function tool(name: string): string {
  return `export const tool = { name: '${name}', description: 'Greets.', input: { type: 'object' }, run: () => ({}) };\n`;
}

const NDJSON = 'application/x-ndjson';
