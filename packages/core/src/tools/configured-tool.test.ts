import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@dragoman/protocols';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type GivenTool, toolEntry } from '../../test-support/configured.ts';
import { memoryStore } from '../../test-support/memory-store.ts';
import { SilentLog } from '../../test-support/silent-log.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import { TestIds } from '../../test-support/test-ids.ts';
import { moduleAgent } from '../agents/module-agent.ts';
import { ALL_PERMISSIONS, NO_PERMISSIONS, type Principal } from '../call/principal.ts';
import { Ending } from '../ending/ending.ts';
import { Engine } from '../engine/engine.ts';
import type { OutboundRequest } from '../gate/gate.ts';
import { CredentialUse } from '../secrets/credential-use.ts';
import { configuredTool, type ToolBackends } from './configured-tool.ts';
import { directGate } from './direct-gate.contract.ts';
import { FixedTools } from './fixed-tools.ts';
import { openTools } from './open-tools.ts';
import { Skills } from './skills.ts';
import { ToolRegistry } from './tool-registry.ts';

const ADA: Principal = { id: 'ada', kind: 'agent', permissions: ALL_PERMISSIONS };
const clock = new TestClock();
const ids = new TestIds();
const engine = new Engine({ store: memoryStore(), clock, ids, log: new SilentLog() });
engine.addAgent(
  moduleAgent('greeter', async function* (envelope) {
    yield 'Hello, ';
    yield String(envelope.params['content']);
    if (envelope.params['content'] === 'nobody')
      throw Object.assign(new Error('no agent is there'), { code: 'NOBODY' });
    return { greeted: envelope.params['content'], skill: envelope.params['skill'] ?? null };
  }),
);
engine.addAgent(
  moduleAgent('helper', async function* (_, call) {
    const tools = await call.tools?.list();
    expect(call.tools).toBe(call.tools);
    const { data } = (await call.tools?.call('greet', { content: 'Eve' })) ?? {};
    return { tools: tools?.map(({ name }) => name), data };
  }),
);

const sent: OutboundRequest[] = [];
const backends: ToolBackends = {
  engine,
  ids,
  gate: directGate(sent),
};

async function call(
  entry: GivenTool,
  args: JsonObject,
  more: { onEvent?: (event: object) => void; principal?: Principal; ending?: Ending } = {},
) {
  const registry = new ToolRegistry({ clock });
  registry.add(new FixedTools([configuredTool(toolEntry(entry), backends)]));
  return registry.call({ name: entry.name, args, principal: ADA, ending: new Ending(), ...more });
}

describe('a tool that an endpoint answers', () => {
  let server: Server;
  let url = '';
  beforeAll(async () => {
    server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      if (request.url?.startsWith('/broken'))
        response.writeHead(404, { 'content-type': 'application/json' }).end('{"why":"gone"}');
      else if (request.url?.startsWith('/text')) response.end('plain');
      else {
        const received = {
          method: request.method,
          url: request.url,
          body,
          type: request.headers['content-type'] ?? null,
        };
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(received));
      }
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => server.close());

  test('arguments go where the URL names them, and the rest in the body', async () => {
    const { data } = await call(
      { name: 'put', http: { url: `${url}/users/{id}`, method: 'PUT' } },
      { id: 'a/b?c', name: 'Ada' },
    );
    expect(data).toEqual({ method: 'PUT', url: '/users/a%2Fb%3Fc', body: '{"name":"Ada"}', type: 'application/json' });
  });

  test.each([
    ['missing', {}],
    ['null', { id: null }],
    ['empty', { id: '' }],
  ])('an argument of the URL that is %s is refused: without it the URL is that of another place', async (_, args) => {
    const before = sent.length;
    const entry = { name: 'del', http: { url: `${url}/users/{id}?why={why}`, method: 'DELETE' } } as const;
    await expect(call(entry, { why: '', ...args })).rejects.toMatchObject({
      failure: { code: 'invalid_message', details: { issues: [{ pointer: '/arguments/id' }] } },
    });
    expect(sent.length).toBe(before);
    expect((await call(entry, { why: '', id: 7, more: true })).data).toMatchObject({ url: '/users/7?why=&more=true' });
  });

  test('or in the query, for methods without a body', async () => {
    const { data } = await call(
      { name: 'get', http: { url: `${url}/users`, method: 'GET' } },
      { tag: ['x', 'y'], n: 1 },
    );
    expect(data).toEqual({ method: 'GET', url: '/users?tag=x&tag=y&n=1', body: '', type: null });
  });

  test('a status from 400 up did not succeed', async () => {
    expect(await call({ name: 'x', http: { url: `${url}/broken` } }, {})).toMatchObject({
      success: false,
      error: 'The endpoint answered 404.',
      error_code: 'HTTP_404',
      data: { why: 'gone' },
    });
    expect(await call({ name: 'x', http: { url: `${url}/text` } }, {})).toMatchObject({ success: true, data: 'plain' });
  });

  test('a secret is only named; the gate receives the caller', async () => {
    const headers = { authorization: { credential: 'crm' } };
    await call({ name: 'x', http: { url: `${url}/text`, headers } as GivenTool['http'] & object }, {});
    expect(sent.at(-1)?.headers?.['authorization']).toEqual(new CredentialUse('crm'));
    expect(sent.at(-1)?.caller).toBe('ada');
  });

  test('arguments are checked first', async () => {
    const entry = {
      name: 'x',
      input: { type: 'object', required: ['id'] },
      http: { url },
    } as unknown as GivenTool;
    await expect(call(entry, {})).rejects.toMatchObject({ failure: { code: 'invalid_message' } });
  });
});

describe('a tool that an agent answers', () => {
  const greet: GivenTool = { name: 'greet', agent: 'greeter' };

  test('returns the final result of the agent, and its earlier frames as events', async () => {
    const events: object[] = [];
    const { data } = await call(greet, { content: 'Bob' }, { onEvent: (event) => events.push(event) });
    expect(data).toEqual({ greeted: 'Bob', skill: null });
    const chunk = (delta: string) => ({ kind: 'status', data: { message: '', delta_kind: 'text', delta } });
    expect(events).toEqual([chunk('Hello, '), chunk('Bob')]);
  });

  test('the error of the agent is the error of the tool', async () => {
    await expect(call(greet, { content: 'nobody' })).rejects.toMatchObject({
      failure: { code: 'tool_failed', message: 'no agent is there', details: { tool_code: 'NOBODY' } },
    });
  });

  test('ends the work of the agent when the call is given up', async () => {
    let work: AbortSignal | undefined;
    engine.addAgent(
      moduleAgent('waiter', async function* (_, { signal }) {
        work = signal;
        yield 'One moment.';
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      }),
    );
    const ending = new Ending();
    const onEvent = () => ending.end(new Error('enough'));
    await expect(call({ name: 'wait', agent: 'waiter' }, { content: 'x' }, { ending, onEvent })).rejects.toThrow(
      'enough',
    );
    await expect.poll(() => work?.aborted).toBe(true);
  });

  test('the caller needs to be allowed to reach the agent too', async () => {
    const principal: Principal = { id: 'eve', kind: 'agent', permissions: { ...NO_PERMISSIONS, tools: ['greet'] } };
    await expect(call(greet, { content: 'Bob' }, { principal })).rejects.toMatchObject({
      failure: { code: 'forbidden' },
    });
  });
});

test('a tool that cannot be answered here is refused immediately', () => {
  const alone = { engine, ids };
  expect(() => configuredTool(toolEntry({ name: 'flow', workflow: '/w.jsonl' }), alone)).toThrow(
    'workflows are not available here',
  );
  expect(() => configuredTool(toolEntry({ name: 'web', http: { url: 'http://x' } }), alone)).toThrow(
    'outbound requests are not available',
  );
});

test.each(['nonsense', 'ftp://example.com/x', '/users/{id}', '{base}/users'])(
  'a URL that leads nowhere, whatever is put into it, is refused when the tool is opened: %s',
  (url) => {
    const words = `tool it: url must be an http or https URL; got ${JSON.stringify(url)}`;
    expect(() => configuredTool(toolEntry({ name: 'it', http: { url } }), backends)).toThrow(words);
  },
);

test('arguments may be in any part of the URL', () => {
  for (const url of ['https://{shop}.example.com/', 'http://127.0.0.1:{port}/{id}?q={q}#{part}']) {
    expect(configuredTool(toolEntry({ name: 'it', http: { url } }), backends).answeredBy).toBe('http');
  }
});

test.each(['.', '..', '%2e%2E', '.%2e'])('an argument in a URL cannot lead out of its place: %s', async (id) => {
  const entry = { name: 'web', http: { url: 'http://api.example.com/public/{id}/items', method: 'GET' } } as const;
  const before = sent.length;
  await expect(async () => call(entry, { id })).rejects.toMatchObject({ failure: { code: 'invalid_message' } });
  expect(sent).toHaveLength(before);
});

test('a tool has one thing that answers it', () => {
  expect(() => configuredTool(toolEntry({ name: 'x' }), backends)).toThrow(
    'tool x: it needs one of http, agent, workflow; got none',
  );
  expect(() => configuredTool(toolEntry({ name: 'x', agent: 'a', workflow: 'b' }), backends)).toThrow(
    'got agent and workflow',
  );
  expect(() => configuredTool(toolEntry({ name: 'x', agent: 'a', input: { type: 'objct' } }), backends)).toThrow(
    'tool x: input /type must be string, number',
  );
});

test('two tools of one name, and a file without any, are reported at once', async () => {
  const file = fileURLToPath(new URL('./fixtures/no-tools.mjs', import.meta.url));
  await expect(openTools([file], backends)).rejects.toThrow('it exports no tool');
  const tools = await openTools(
    [toolEntry({ name: 'a', agent: 'greeter' }), toolEntry({ name: 'a', agent: 'greeter' })],
    backends,
  );
  expect(() => new FixedTools(tools)).toThrow('two tools named a');
});

test('a tool that a file exports under two names is one', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-tools-'));
  const file = join(folder, 'tools.mjs');
  writeFileSync(
    file,
    "export const hello = { name: 'hello', input: { type: 'object' }, run: () => 1 }; export default hello; export const all = [hello];",
  );
  const tools = await openTools([file], backends);
  rmSync(folder, { recursive: true });
  expect(tools.map(({ definition }) => definition.name)).toEqual(['hello']);
});

describe('skills', () => {
  const skills = new Skills({
    engine,
    ids,
    agents: () => [{ id: 'greeter', name: 'Greeter', description: 'greets', skills: ['greeting'] }],
  });

  test('are those of the agents a caller may reach', () => {
    expect(skills.list(ADA)).toMatchObject([{ name: 'greeting', description: 'greets', source: 'greeter' }]);
    expect(skills.list(ADA, { tags: ['greeting', 'other'] })).toHaveLength(1);
    expect(skills.list(ADA, { categories: ['other'] })).toHaveLength(0);
    expect(skills.list({ ...ADA, permissions: NO_PERMISSIONS })).toEqual([]);
  });

  test('are called by name, which the agent receives', async () => {
    const toolCall = { principal: ADA, ending: new Ending(), args: { content: 'Bob' } };
    expect((await skills.call({ ...toolCall, name: 'greeting' })).data).toEqual({ greeted: 'Bob', skill: 'greeting' });
    expect((await skills.call({ ...toolCall, name: 'greeter__greeting' })).success).toBe(true);
    await expect(skills.call({ ...toolCall, name: 'greetin' })).rejects.toMatchObject({
      code: 'unknown_skill',
      detail: { suggestions: ['did you mean greeting?'] },
    });
    const nobody = { ...toolCall, name: 'greeting', args: { content: 'nobody' } };
    await expect(skills.call(nobody)).rejects.toMatchObject({ code: 'skill_error', message: 'no agent is there' });
  });
});

test('an agent uses the tools its caller may use', async () => {
  const registry = new ToolRegistry({ clock });
  registry.add(
    new FixedTools(
      await openTools(
        [toolEntry({ name: 'greet', agent: 'greeter' }), toolEntry({ name: 'other', agent: 'greeter' })],
        backends,
      ),
    ),
  );
  engine.tools = registry;
  const helped = (principal: Principal) => call({ name: 'help', agent: 'helper' }, { content: 'x' }, { principal });
  const permissions = { ...ALL_PERMISSIONS, tools: ['help', 'greet'] };
  expect((await helped({ ...ADA, permissions })).data).toEqual({
    tools: ['greet'],
    data: { greeted: 'Eve', skill: null },
  });
  const few = { ...ALL_PERMISSIONS, tools: ['help'] };
  await expect(helped({ ...ADA, permissions: few })).rejects.toMatchObject({ failure: { code: 'tool_failed' } });
});
