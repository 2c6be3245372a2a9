import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@dragoman/protocols';
import { afterAll, describe, expect, test } from 'vitest';
import { mcpServer } from '../../../test-support/configured.ts';
import { memoryStore } from '../../../test-support/memory-store.ts';
import { SilentLog } from '../../../test-support/silent-log.ts';
import { systemClock } from '../../../test-support/system-clock.ts';
import { ALL_PERMISSIONS } from '../../call/principal.ts';
import { McpServers } from '../mcp/mcp-servers.ts';
import { SessionToolkits } from '../session-toolkits.ts';
import type { ConfiguredMcpServer } from '../tools-config.ts';
import type { WireCall } from '../wire/plugin.ts';
import { mcpPlugin } from './mcp.ts';

const DOCUMENT = 'demo://resource/static/document/features.md';
const folder = mkdtempSync(join(tmpdir(), 'dragoman-mcp-lists-'));
const log = new SilentLog();
const servers = new McpServers({
  configs: {
    nonsense: hostile('nonsense'),
    error: hostile('error'),
    silence: hostile('silence'),
    much: hostile('pages'),
    more: hostile('pages'),
    every: everything(),
    narrow: { ...everything(), resources: [DOCUMENT] },
  },
  clock: systemClock,
  log,
  folder,
  pins: memoryStore().pins,
  gate: undefined,
  version: '0',
});
const toolkits = new SessionToolkits();
const plugin = mcpPlugin({ servers, toolkits, patienceMs: 1_000 });
afterAll(async () => {
  await plugin.teardown?.();
  rmSync(folder, { recursive: true, force: true });
});

function hostile(lists: string): ConfiguredMcpServer {
  return program('../fixtures/hostile-mcp-server.mjs', join(folder, lists), lists);
}

function everything(): ConfiguredMcpServer {
  return program('../../../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', 'stdio');
}

function program(path: string, ...args: string[]): ConfiguredMcpServer {
  return mcpServer({ command: process.execPath, args: [fileURLToPath(new URL(path, import.meta.url)), ...args] });
}

/** An agent that may use the servers named. */
function caller(...names: string[]) {
  const permissions = { ...ALL_PERMISSIONS, tools: names.map((name) => `${name}__echo`) };
  const session = { principal: { id: 'ada', kind: 'agent', permissions } };
  const stopped = new AbortController();
  const call = { session, signal: stopped.signal, log } as unknown as WireCall;
  const ask = async (type: string, fields: JsonObject = {}) =>
    plugin.handle({ type, id: 'x', server_id: '', cursor: '', ...fields } as never, call);
  return { ask, stopped };
}

describe.each([
  ['mcp/prompt/list/req', 'prompts'],
  ['mcp/resource/list/req', 'resources'],
])('%s', (type, field) => {
  test('of all servers has the items of the others, and a server without an answer is logged', async () => {
    const { ask } = caller('nonsense', 'error', 'silence', 'every');
    log.lines.length = 0;
    const items = (await ask(type))?.[field] as JsonObject[];
    expect(items.length).toBeGreaterThan(2);
    expect(new Set(items.map((item) => item['server_id']))).toEqual(new Set(['every']));
    const warnings = log.lines.filter(({ message }) => message === `the ${field} of an MCP server cannot be listed`);
    expect(new Set(warnings.map(({ fields }) => fields['mcp_server']))).toEqual(
      new Set(['nonsense', 'error', 'silence']),
    );
    const late = { mcp_server: 'silence', error: 'The MCP server silence did not answer in time.' };
    expect(warnings).toContainEqual(expect.objectContaining({ level: 'warn', fields: late }));
  });

  test('of all servers continues until each has sent everything', async () => {
    const { ask } = caller('much', 'error', 'more');
    const warnings: unknown[] = [];
    let cursor = '';
    let pages = 0;
    do {
      const page = (await ask(type, { cursor })) as JsonObject;
      const items = page[field] as JsonObject[];
      expect(items.length).toBeLessThanOrEqual(1_000);
      warnings.push(...items.map((item) => `${item['server_id']} ${item['name']}`));
      cursor = String(page['next_cursor']);
      pages += 1;
    } while (cursor !== '' && pages < 10);
    expect(warnings).toHaveLength(2_400);
    expect(new Set(warnings).size).toBe(2_400);
    expect(pages).toBe(4);
  });

  test('of a single server is continued with the cursor of that server', async () => {
    const { ask } = caller('much');
    const { next_cursor: cursor = '' } = (await ask(type)) as JsonObject;
    const page = (await ask(type, { cursor })) as JsonObject;
    expect([(page[field] as JsonObject[])[0]?.['name'], page['next_cursor']]).toEqual(['n600', '']);
    expect(await ask(type, { cursor, server_id: 'much' })).toEqual(page);
  });

  test.each(['600', 'e30x', 'bnVsbA', Buffer.from('{"much":7}').toString('base64url')])(
    'of all servers does not continue from %s, which is not one of its cursors',
    async (cursor) => {
      await expect(caller('much', 'more').ask(type, { cursor })).rejects.toMatchObject({
        code: 'invalid_message',
        message: expect.stringContaining('cursor must be the next_cursor'),
      });
    },
  );

  test('of that server alone is an error, and so it is where no other is there', async () => {
    const { ask } = caller('error', 'every');
    const refusal = { code: 'mcp_protocol_error', message: 'The MCP server error refused: No.' };
    await expect(ask(type, { server_id: 'error' })).rejects.toMatchObject(refusal);
    await expect(caller('error').ask(type)).rejects.toMatchObject(refusal);
  });

  test('of a server that answers nonsense is an error of the server, not of the way to it', async () => {
    await expect(caller('nonsense').ask(type, { server_id: 'nonsense' })).rejects.toMatchObject({
      code: 'mcp_protocol_error',
      message: expect.stringContaining(`the MCP server nonsense violates MCP; invalid or missing: ${field}`),
    });
  });

  test('that is cancelled is not a list', async () => {
    const { ask, stopped } = caller('silence', 'every');
    const pending = ask(type);
    stopped.abort(new Error('enough'));
    await expect(pending).rejects.toThrow('enough');
  });
});

test('a server is listed with its protocol revision, and its resources and prompts once they are counted', async () => {
  const { ask } = caller('every');
  const info = async () => {
    const { servers: infos } = (await ask('mcp/server/list/req', { status_filter: '' })) as { servers: JsonObject[] };
    return infos[0];
  };
  expect((await info())?.['mcp_version']).toMatch(/^\d{4}-\d\d-\d\d$/);
  const { prompts } = (await ask('mcp/prompt/list/req', { server_id: 'every' })) as { prompts: JsonObject[] };
  await ask('mcp/resource/list/req', { server_id: 'every' });
  expect(await info()).toMatchObject({ prompts_count: prompts.length, resources_count: expect.any(Number) });
});

test.each([
  ['mcp/resource/read/req', { uri: 'demo://x' }],
  ['mcp/resource/subscribe/req', { uri: 'demo://x' }],
  ['mcp/prompt/get/req', { name: 'x', arguments: {} }],
])('%s that names none of several servers is refused with their names', async (type, fields) => {
  await expect(caller('error', 'every').ask(type, fields)).rejects.toMatchObject({
    code: 'mcp_server_not_found',
    message: 'Say which MCP server by server_id: error, every.',
    detail: { servers: ['error', 'every'] },
  });
  await expect(caller().ask(type, fields)).rejects.toMatchObject({ message: 'There is no MCP server here.' });
});

test('a connection receives no change of a server that it has turned off', async () => {
  const pushed: JsonObject[] = [];
  let change = (_: JsonObject) => {};
  const server = {
    name: 'shop',
    allowsResource: () => true,
    info: () => ({}),
    subscribe: async (_uri: string, _listener: object, emit: (params: JsonObject) => void) => {
      change = emit;
    },
  };
  const shop = { ready: Promise.resolve(), servers: () => [server], server: () => server } as unknown as McpServers;
  const { handle } = mcpPlugin({ servers: shop, toolkits: new SessionToolkits() });
  const session = {
    principal: { id: 'ada', kind: 'agent', permissions: ALL_PERMISSIONS },
    push: (_type: string, fields: JsonObject) => void pushed.push(fields),
  };
  const call = { session, signal: new AbortController().signal, log } as unknown as WireCall;
  const ask = async (type: string, fields: JsonObject) => handle({ type, id: 'x', ...fields } as never, call);
  await ask('mcp/resource/subscribe/req', { server_id: 'shop', uri: 'shop://prices' });
  change({ uri: 'shop://prices' });
  await ask('mcp/server/unregister/req', { server_id: 'shop' });
  change({ uri: 'shop://prices' });
  expect(pushed).toHaveLength(1);
  const nothing = { cmd: [], cwd: '', env: {}, url: '', headers: {}, tool_allow_list: [], resource_allow_list: [] };
  await ask('mcp/server/register/req', { config: { server_id: 'shop', name: '', ...nothing } });
  change({ uri: 'shop://prices' });
  expect(pushed).toHaveLength(2);
});

test('a resource that the operator did not name is not there: not in lists, to read or to subscribe to', async () => {
  const { ask } = caller('narrow');
  expect(await ask('mcp/resource/list/req', { server_id: 'narrow' })).toMatchObject({ resources: [{ uri: DOCUMENT }] });
  expect(await ask('mcp/resource/read/req', { server_id: 'narrow', uri: DOCUMENT })).toMatchObject({
    contents: [{ uri: DOCUMENT }],
  });
  for (const uri of ['demo://resource/static/document/startup.md', `${DOCUMENT}/../startup.md`, 'file:///etc/passwd']) {
    for (const type of ['mcp/resource/read/req', 'mcp/resource/subscribe/req']) {
      const pending = ask(type, { server_id: 'narrow', uri });
      await expect(pending, `${type} ${uri}`).rejects.toMatchObject({
        code: 'mcp_resource_not_found',
        message: `The MCP server narrow has no resource ${uri}.`,
      });
    }
  }
});

test('the description of a filled-in prompt hides nothing either', async () => {
  const server = { name: 'shop', timeoutMs: 1, ask: async () => ({ description: 'a\u200bb\u{e0041}', messages: [] }) };
  const fake = { ready: Promise.resolve(), servers: () => [server] } as unknown as McpServers;
  const session = { principal: { id: 'ada', kind: 'agent', permissions: ALL_PERMISSIONS } };
  const call = { session, signal: new AbortController().signal, log } as unknown as WireCall;
  const pending = { type: 'mcp/prompt/get/req', id: 'x', server_id: 'shop', name: 'x', arguments: {} };
  const answer = await mcpPlugin({ servers: fake, toolkits }).handle(pending as never, call);
  expect(answer).toEqual({ description: 'ab', messages: [], server_id: 'shop' });
});

test('a prompt without a required argument is reported as that, and not as missing', async () => {
  const { ask } = caller('every');
  const get = (name: string) => ask('mcp/prompt/get/req', { server_id: 'every', name, arguments: {} });
  await expect(get('args-prompt')).rejects.toMatchObject({
    code: 'schema_violation',
    message: expect.stringContaining('city'),
  });
  await expect(get('no-such')).rejects.toMatchObject({ code: 'mcp_prompt_not_found' });
});
