import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { NETWORK_TRANSPORTS } from '../../packages/server/src/edges/wire-peer.contract.ts';
import { call } from '../system/call.ts';
import { System } from '../system/system.ts';
import { WireCaller } from '../system/wire-caller.ts';
import { WorkflowCaller, workflowOf } from '../system/workflow-caller.ts';

// The whole server works in a process that cannot make code out of text: nothing of ours needs eval or new Function, and no
// schema, pattern, route or workflow becomes code.

const MCP_SERVER = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
);
const folder = mkdtempSync(join(tmpdir(), 'dragoman-no-code-'));
const TOOLS = join(folder, 'tools.mjs');
writeFileSync(
  TOOLS,
  `import { Worker } from 'node:worker_threads';
const ATTEMPTS = "[() => new Function('return 1')(), () => (0, eval)('1'), () => (async () => {}).constructor('return 1')]";
const attempt = (one) => { try { one(); return 'made'; } catch (error) { return error.name; } };
const inThread = \`const attempt = \${attempt}; require('node:worker_threads').parentPort.postMessage(\${ATTEMPTS}.map(attempt))\`;
export const attempts = {
  name: 'attempts',
  input: { type: 'object' },
  run: async () => ({
    main: [() => new Function('return 1')(), () => (0, eval)('1'), () => (async () => {}).constructor('return 1')].map(attempt),
    thread: await new Promise((resolve, reject) => new Worker(inThread, { eval: true }).once('message', resolve).once('error', reject)),
  }),
};
const NAME = { type: 'string', pattern: '^[a-z]+$' };
export const greet = {
  name: 'greet',
  input: { type: 'object', required: ['name'], properties: { name: { $ref: '#/$defs/name' } }, $defs: { name: NAME } },
  run: ({ name }) => ({ greeting: 'Hello ' + name }),
};
`,
);
const CONFIG: JsonObject = {
  wire: { port: 0 },
  tools: [TOOLS],
  apis: {
    shop: {
      base_url: 'https://shop.example',
      endpoints: [{ method: 'DELETE', path: '/orders/{id}', description: 'Cancels an order.' }],
    },
  },
  mcp_servers: { every: { command: process.execPath, args: [MCP_SERVER, 'stdio'] } },
};
const system = await System.start({ config: CONFIG });
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});
const permissions = { tools: ['*'], operations: ['*'], apis: ['*'] };
const { api_key: key } = await system.caller('ada', { permissions });

const REFUSED = ['EvalError', 'EvalError', 'EvalError'];
const MADE = ['made', 'made', 'made'];

async function onWire(): Promise<WireCaller> {
  const open = NETWORK_TRANSPORTS['tcp'];
  if (open === undefined) throw new Error('there is no way in over TCP');
  const agent = await new WireCaller(
    await open({ url: system.url, wire: { url: system.wireUrl, socket: undefined } }, key),
  ).greet(key);
  // The MCP server takes a moment to start.
  await agent.ask('tool/list/req');
  return agent;
}

test('the server of the system tests runs with code generation off, in every thread', async () => {
  await using agent = await onWire();
  expect(await agent.use('attempts')).toMatchObject({ data: { data: { main: REFUSED, thread: REFUSED } } });
});

test('arguments of a tool are checked against its schema, patterns and references included', async () => {
  await using agent = await onWire();
  expect(await agent.use('greet', { name: 'ada' })).toMatchObject({ data: { data: { greeting: 'Hello ada' } } });
  expect(await agent.use('greet', {})).toMatchObject({ message: 'greet: missing required argument "name"' });
  expect(await agent.use('greet', { name: 'A' })).toMatchObject({ message: expect.stringContaining('^[a-z]+$') });
});

test('a tool of an MCP server is called, and its arguments are checked against the schema of the server', async () => {
  await using agent = await onWire();
  expect(await agent.use('every__echo', { message: 'hi' })).toMatchObject({ data: { data: 'Echo: hi' } });
  expect(await agent.use('every__echo')).toMatchObject({ message: 'every__echo: missing required argument "message"' });
});

test('a workflow runs, with its own pattern', async () => {
  const workflow = workflowOf({
    now: { GetCurrentDateTime: { timezone: 'UTC', outputPath: '/workflow/now' } },
    year: { ExtractText: { inputPath: '/workflow/now', pattern: '[0-9]{4}', outputPath: '/workflow/year' } },
  });
  const { status, results } = await new WorkflowCaller(system, key).execute(workflow);
  expect([status, JSON.stringify(results['year'])]).toEqual(['success', expect.stringMatching(/\d{4}/)]);
});

test('a search finds by words, and by meaning with the encoder in its thread', async () => {
  const search = async () => {
    const json = { query: 'cancel a purchase order', top_k: 1 };
    const answer = await call(system.url, { method: 'POST', path: '/api/v1/knowledge/search', key, json });
    return (await answer.json()) as JsonObject;
  };
  await expect
    .poll(search, { timeout: 50_000 })
    .toMatchObject({ ranking: 'words+meaning', results: [{ id: 'shop DELETE /orders/{id}' }] });
}, 60_000);

test('a command that is started without the flag still has it for every thread', async () => {
  const config = join(folder, 'dragoman.yaml');
  writeFileSync(config, JSON.stringify({ tools: [TOOLS] }));
  const args = [system.command, 'tools', 'call', 'attempts', '--args', '{}', '--config', config, '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder });
  expect(JSON.parse(stdout)).toMatchObject({ data: { main: MADE, thread: REFUSED } });
});
