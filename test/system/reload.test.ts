import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { isAlive } from '../../packages/core/test-support/is-alive.ts';
import type { Config } from '../../packages/server/src/config-schema.ts';
import { websocketPeer } from '../../packages/server/src/edges/wire-peer.contract.ts';
import { buildServer } from './build-server.ts';
import { allFrames, call } from './call.ts';
import { CountingApi } from './counting-api.ts';
import { agentModule, moduleAgent } from './system.ts';
import { WireCaller } from './wire-caller.ts';
import { WorkflowCaller, workflowOf } from './workflow-caller.ts';

// SIGHUP to the real command: what it takes over while it runs, and what it leaves as it was.

const folder = mkdtempSync(join(tmpdir(), 'dragoman-reload-'));
const file = (name: string) => join(folder, name);
const built = await buildServer({ crashPoints: false, command: true });
const api = await CountingApi.start();
const ADMIN = 'adm_reload';
const MCP_SERVER = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
);
const patient = (name: string) => ({
  driver: 'stdio' as const,
  command: process.execPath,
  args: [agentModule('patient'), name, file('go')],
});
const FIRST: Config = {
  port: 0,
  default_agent: 'echo',
  agents: { echo: moduleAgent('echo'), old: moduleAgent('echo'), desk: patient('first') },
};

let log = '';
const child = serve(FIRST);
const events = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
afterAll(async () => {
  child.kill('SIGKILL');
  await once(child, 'close');
  await api[Symbol.asyncDispose]();
  built[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});
const { url } = await told<{ url: string }>('listening');
const made = await call(url, {
  method: 'POST',
  path: '/admin/v1/agents',
  key: ADMIN,
  json: {
    agent_id: 'ada-agent',
    permissions: { agents: ['*'], tools: ['*'], operations: ['*'], apis: ['*'] },
  },
});
const { api_key: key } = (await made.json()) as { api_key: string };

test('agents, tools, MCP servers, APIs, the way out and limits follow the file; what runs is not disturbed', async () => {
  const running = await call(url, { method: 'POST', path: '/e2a/agents/desk', key, accept: NDJSON, json: asked('r1') });
  const lines = createInterface({ input: running.message })[Symbol.asyncIterator]();
  const [name, pid] = JSON.parse((await lines.next()).value).body.delta.split(' ');
  expect(name).toBe('first');

  writeFileSync(file('tools.mjs'), tool('hello'));
  const second: Config = {
    ...FIRST,
    default_agent: 'desk',
    agents: { echo: moduleAgent('echo'), desk: patient('second'), added: moduleAgent('words') },
    tools: [file('tools.mjs')],
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
  writeFileSync(file('go'), '');
  expect(JSON.parse((await lines.next()).value).body.result).toEqual({ name: 'first' });
  await expect.poll(() => isAlive(Number(pid))).toBe(false);

  // The second answers from now on, also where nobody is named.
  const answer = await call(url, { method: 'POST', path: '/e2a', key, accept: NDJSON, json: asked('r2') });
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
  writeFileSync(file('tools.mjs'), tool('goodbye'));
  utimesSync(file('tools.mjs'), 1000, 1000);
  child.kill('SIGHUP');
  expect(await told('reloaded')).toMatchObject({ changed: ['tools'], waiting: [] });
  expect(await toolNames()).toContain('goodbye');
  expect(await toolNames()).not.toContain('hello');
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
    JSON.stringify({ ...FIRST, agents: { added: { driver: 'module', module: file('none.mjs') } }, tools: [] }),
    /there is no file/,
  ],
])('of a file %s nothing is taken over, and the reason is told', async (_, text, reason) => {
  const from = log.length;
  writeFileSync(file('dragoman.yaml'), text);
  child.kill('SIGHUP');
  await expect.poll(() => log.slice(from)).toMatch(reason);
  expect(log.slice(from)).toContain('the server goes on as it was');
  expect((await ask('old', `again-${from}`)).status).toBe(200);
  expect((await ask('added', `added-${from}`)).status).toBe(404);
});

function serve(config: Config) {
  writeFileSync(file('dragoman.yaml'), JSON.stringify(config));
  const command = join(dirname(built.entry), 'dragoman.js');
  const args = ['serve', '--json', '--config', file('dragoman.yaml'), '--data', file('data')];
  const started = spawn(process.execPath, [command, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] ?? '', DRAGOMAN_ADMIN_KEY: ADMIN },
  });
  started.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  return started;
}

/** Rewrites the file, and waits until the server has said what it made of it. */
function reloaded(config: Config): Promise<{ changed: string[]; waiting: string[] }> {
  writeFileSync(file('dragoman.yaml'), JSON.stringify(config));
  child.kill('SIGHUP');
  return told('reloaded');
}

/** The next event of this name. */
async function told<Event>(name: string): Promise<Event> {
  for (;;) {
    const { value, done } = await events.next();
    if (done === true) throw new Error(`it ended before it told ${name}: ${log}`);
    const event = JSON.parse(value);
    if (event.event === name) return event;
  }
}

function asked(requestId: string) {
  return { request_id: requestId, method: 'chat.send', params: { content: 'hello' }, is_stream: true };
}

function ask(agent: string, requestId: string) {
  return call(url, { method: 'POST', path: `/e2a/agents/${agent}`, key, json: asked(requestId) });
}

async function toolNames(): Promise<string[]> {
  await using wire = new WireCaller(await websocketPeer({ url }));
  await wire.answer(wire.send('handshake/req', { auth_token: key }));
  const { tools } = await wire.answer(wire.send('tool/list/req'));
  return (tools as { name: string }[]).map(({ name }) => name);
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
