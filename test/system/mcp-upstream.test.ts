import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, describe, expect, test } from 'vitest';
import { call } from './call.ts';
import { moduleAgent, System } from './system.ts';

// Prompts and resources of MCP servers in the configuration, seen by clients of this server.

const program = {
  command: process.execPath,
  args: [fileURLToPath(new URL('./peers/conformance-server.mjs', import.meta.url))],
};
const missing = { command: process.execPath, args: ['-e', 'process.exit(1)'] };
const system = await System.start({
  config: {
    agents: { echo: moduleAgent('echo'), worker: moduleAgent('worker') },
    mcp_servers: { suite: program, twin: program, missing },
  },
});
afterAll(() => system[Symbol.asyncDispose]());
const agents = ['*'];
const { api_key: all } = await system.caller('all-agent', { permissions: { agents, tools: ['*'] } });
const { api_key: one } = await system.caller('one-agent', { permissions: { agents, tools: ['suite__anything'] } });
const { api_key: none } = await system.caller('none-agent', { permissions: { agents, tools: ['work'] } });

const ERAS = { 'in a session': {}, '2026-07-28': { versionNegotiation: { mode: { pin: '2026-07-28' } } } } as const;

async function connected(era: keyof typeof ERAS, key: string, path = '/mcp'): Promise<Client> {
  const client = new Client({ name: 'test-client', version: '1.0.0' }, ERAS[era]);
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(path, system.url), { requestInit }));
  return client;
}

describe.each(Object.keys(ERAS) as (keyof typeof ERAS)[])('a client %s', async (era) => {
  const client = await connected(era, one);
  afterAll(() => client.close());

  test('gets prompts of the servers its key may use, beside its own', async () => {
    const names = (await client.listPrompts()).prompts.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['ask_echo', 'test_simple_prompt', 'test_prompt_with_arguments']));
    const filled = { name: 'test_prompt_with_arguments', arguments: { arg1: 'a', arg2: 'b' } };
    expect((await client.getPrompt(filled)).messages).toMatchObject([{ content: { text: /arg1='a', arg2='b'/ } }]);
    await expect(client.getPrompt({ name: 'test_prompt_with_arguments' })).rejects.toMatchObject({ code: -32602 });
    await expect(client.getPrompt({ name: 'no_such_prompt' })).rejects.toThrow('Unknown prompt');
  });

  test('reads their resources, those of templates included', async () => {
    const uris = (await client.listResources()).resources.map(({ uri }) => uri);
    expect(uris).toEqual(expect.arrayContaining(['test://static-text', 'test://static-binary']));
    const templates = (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate);
    expect(templates).toEqual(expect.arrayContaining(['e2a://requests/{request_id}', 'test://template/{id}/data']));
    expect(await client.readResource({ uri: 'test://template/7/data' })).toMatchObject({
      contents: [{ text: expect.stringContaining('Data for ID: 7') }],
    });
    await expect(client.readResource({ uri: 'test://nothing' })).rejects.toThrow('There is no resource');
  });

  test('completes arguments', async () => {
    const complete = async (ref: object, name: string, value: string) =>
      (await client.complete({ ref, argument: { name, value } } as Parameters<Client['complete']>[0])).completion
        .values;
    const template = (uri: string) => ({ type: 'ref/resource', uri });
    const prompt = (name: string) => ({ type: 'ref/prompt', name });
    expect(await complete(template('e2a://sessions/{agent}/{session}'), 'agent', 'ec')).toEqual(['echo']);
    expect(await complete(template('test://template/{id}/data'), 'id', '12')).toEqual(['123', '124']);
    expect(await complete(prompt('test_prompt_with_arguments'), 'arg1', 'te')).toEqual(['testing']);
    expect(await complete(prompt('ask_echo'), 'prompt', 'x')).toEqual([]);
    await expect(complete(template('test://other/{id}'), 'id', '')).rejects.toThrow('no resource template');
  });
});

test('prompts of the same name of two servers are distinguished by their server names', async () => {
  const client = await connected('2026-07-28', all);
  const names = (await client.listPrompts()).prompts.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['suite__test_simple_prompt', 'twin__test_simple_prompt']));
  expect(names).not.toContain('test_simple_prompt');
  expect((await client.getPrompt({ name: 'twin__test_simple_prompt' })).messages).toHaveLength(1);
  await client.close();
});

test.each([
  ['whose key may use no tool of a server', none, '/mcp'],
  ['of one agent', all, '/mcp/agents/echo'],
])('a client %s sees nothing of it', async (_, key, path) => {
  const client = await connected('2026-07-28', key, path);
  expect((await client.listPrompts()).prompts.map(({ name }) => name)).not.toContain('test_simple_prompt');
  expect((await client.listResources()).resources).toEqual([]);
  await expect(client.readResource({ uri: 'test://static-text' })).rejects.toThrow('There is no resource');
  await expect(client.getPrompt({ name: 'test_simple_prompt' })).rejects.toThrow('Unknown prompt');
  await client.close();
});

test('documents are for callers that may search their knowledge base', async () => {
  const json = { agents: ['one-agent'], documents: [{ id: 'returns', title: 'Returns', text: 'Thirty days.' }] };
  const put = { method: 'PUT', path: '/admin/v1/knowledge/rules', key: system.adminKey, json };
  expect((await call(system.url, put)).status).toBe(201);
  const uri = 'knowledge://rules/returns';
  const client = await connected('2026-07-28', one);
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('search_knowledge');
  expect((await client.listResources()).resources).toContainEqual(expect.objectContaining({ uri, name: 'Returns' }));
  expect((await client.readResource({ uri })).contents).toMatchObject([{ text: 'Thirty days.' }]);
  await client.close();
  const other = await connected('2026-07-28', all);
  expect((await other.listTools()).tools.map(({ name }) => name)).not.toContain('search_knowledge');
  await expect(other.readResource({ uri })).rejects.toThrow('There is no resource');
  await other.close();
});
