import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { NETWORK_TRANSPORTS } from '../../packages/server/src/edges/wire-peer.contract.ts';
import { System } from './system.ts';
import { WireCaller } from './wire-caller.ts';

const EVERYTHING = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
);
const system = await System.start({
  config: {
    wire: { port: 0 },
    mcp_servers: { every: { command: process.execPath, args: [EVERYTHING, 'stdio'] } },
  },
});
afterAll(() => system[Symbol.asyncDispose]());

const { api_key: key } = await system.caller('ada-agent', { permissions: { tools: ['*'] } });
const { api_key: bobsKey } = await system.caller('bob-agent', { permissions: { tools: ['echo'] } });

async function agentWith(token: string): Promise<WireCaller> {
  const open = NETWORK_TRANSPORTS['tcp'];
  if (open === undefined) throw new Error('there is no way in over TCP');
  const place = { url: system.url, wire: { url: system.wireUrl, socket: undefined } };
  const agent = await new WireCaller(await open(place, token)).greet(token);
  // The server of tools takes a moment to start.
  await agent.ask('tool/list/req');
  return agent;
}

const DOCUMENT = 'demo://resource/static/document/features.md';

test('resources of a real MCP server are listed and read, and a missing one is reported', async () => {
  await using agent = await agentWith(key);
  const { resources } = await agent.ask('mcp/resource/list/req', { server_id: 'every' });
  expect(resources).toContainEqual(
    expect.objectContaining({ uri: DOCUMENT, mime_type: 'text/markdown', server_id: 'every' }),
  );
  const read = await agent.ask('mcp/resource/read/req', { server_id: 'every', uri: DOCUMENT });
  const text = expect.stringMatching(/^[\s\S]{100}/);
  expect(read).toMatchObject({ server_id: 'every', contents: [{ uri: DOCUMENT, type: 'text', text }] });
  const blob = await agent.ask('mcp/resource/read/req', { server_id: 'every', uri: 'demo://resource/dynamic/blob/1' });
  expect(blob).toMatchObject({ contents: [{ type: 'blob', blob: expect.stringMatching(/^[\w+/]+=*$/) }] });
  expect(await agent.ask('mcp/resource/read/req', { server_id: 'every', uri: 'demo://no/such' })).toMatchObject({
    type: 'error',
    code: 'mcp_resource_not_found',
  });
});

test('prompts of a real MCP server are listed and filled in, and a missing one is reported', async () => {
  await using agent = await agentWith(key);
  const { prompts } = await agent.ask('mcp/prompt/list/req', { server_id: 'every' });
  expect((prompts as JsonObject[]).map(({ name }) => name)).toContain('args-prompt');
  const filled = await agent.ask('mcp/prompt/get/req', {
    server_id: 'every',
    name: 'args-prompt',
    arguments: { city: 'Bern' },
  });
  expect(JSON.stringify(filled['messages'])).toContain('Bern');
  expect(await agent.ask('mcp/prompt/get/req', { server_id: 'every', name: 'no-such' })).toMatchObject({
    type: 'error',
    code: 'mcp_prompt_not_found',
  });
});

test('a change of a resource is pushed to its subscriber, once, and to no one else', async () => {
  await using agent = await agentWith(key);
  await using other = await agentWith(key);
  const uri = 'demo://resource/dynamic/text/1';
  for (let times = 0; times < 3; times++) {
    expect(await agent.ask('mcp/resource/subscribe/req', { server_id: 'every', uri })).toMatchObject({ ok: true });
  }
  // Starts sending changes at once, and then every few seconds.
  const toggled = agent.call('every__toggle-subscriber-updates');
  const received = await agent.upTo(toggled);
  const pushed = received.find(({ type }) => type === 'mcp/server/push') ?? (await agent.peer.next());
  expect(pushed).toMatchObject({
    type: 'mcp/server/push',
    server_id: 'every',
    method: 'notifications/resources/updated',
    params: { uri },
  });
  // A second one would arrive before the pong.
  expect(await agent.upTo(agent.send('ping'))).toMatchObject([{ type: 'pong' }]);
  expect(await other.upTo(other.send('ping'))).toMatchObject([{ type: 'pong' }]);
  await agent.use('every__toggle-subscriber-updates');
});

test('a caller that may use no tool of a server learns nothing about it', async () => {
  await using agent = await agentWith(bobsKey);
  expect(await agent.ask('mcp/server/list/req')).toMatchObject({ servers: [] });
  expect(await agent.ask('mcp/resource/list/req')).toMatchObject({ resources: [] });
  expect(await agent.ask('mcp/resource/read/req', { server_id: 'every', uri: DOCUMENT })).toMatchObject({
    type: 'error',
    code: 'mcp_server_not_found',
  });
});

test('no message of an agent about a server starts a program or calls an address', async () => {
  await using agent = await agentWith(key);
  const sink = createServer(() => expect.fail('it was called')).listen(0, '127.0.0.1');
  await once(sink, 'listening');
  const url = `http://127.0.0.1:${(sink.address() as AddressInfo).port}/`;
  const mark = join(system.folder, 'started');
  const before = children();
  const says: readonly JsonObject[] = [
    { cmd: ['touch', mark] },
    { cmd: `touch ${mark}` },
    { cwd: '/' },
    { env: { NODE_OPTIONS: `--require=${mark}` } },
    { transport: 'sse', url },
    { transport: 'ws', url: url.replace('http', 'ws') },
    { headers: { authorization: 'Bearer x' } },
    { tool_allow_list: ['echo'] },
  ];
  for (const named of ['every', 'new', '']) {
    for (const configured of says) {
      const config = { server_id: named, name: named, ...configured };
      const { type, ok, code } = await agent.ask('mcp/server/register/req', { config });
      // Another form is not a message; this form is refused.
      expect([ok, code], JSON.stringify(config)).toEqual(
        type === 'error' ? [undefined, 'schema_violation'] : [false, undefined],
      );
    }
  }
  const { servers } = await agent.ask('mcp/server/list/req');
  expect((servers as JsonObject[]).map(({ name }) => name)).toEqual(['every']);
  expect(await agent.ask('proc/spawn/req', { cmd: ['touch', mark] })).toMatchObject({ code: 'capability_missing' });
  expect(children()).toEqual(before);
  expect(existsSync(mark)).toBe(false);
  sink.close();
});

/** The programs that the server has started. */
function children(): string[] {
  const threads = readdirSync(`/proc/${system.pid}/task`);
  const lists = threads.map((thread) => readFileSync(`/proc/${system.pid}/task/${thread}/children`, 'utf8'));
  return lists.flatMap((list) => list.trim().split(' ')).filter((pid) => pid !== '');
}
