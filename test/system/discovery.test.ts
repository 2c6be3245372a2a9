import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { call } from './call.ts';
import { agentModule, System } from './system.ts';
import { workflowOf } from './workflow-caller.ts';

// Durable before acknowledged, and tenancy: what one may not use looks like what is not there.

const folder = mkdtempSync(join(tmpdir(), 'dragoman-discovery-'));
const REPORT = join(folder, 'report.jsonl');
writeFileSync(
  REPORT,
  workflowOf({ now: { GetCurrentDateTime: { timezone: '{{timezone}}', outputPath: '/workflow/now' } } }),
);
const MCP_SERVER = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
);
const system = await System.start({
  config: {
    apis: { sky: { base_url: 'https://sky.example', endpoints: [forecast()] } },
    tools: [
      agentModule('tools'),
      { name: 'weekly_report', description: 'Writes the report of the week.', workflow: REPORT },
    ],
    mcp_servers: { every: { command: process.execPath, args: [MCP_SERVER, 'stdio'] } },
  },
});
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const ada = await system.caller('ada', { permissions: { operations: ['FilterData'], apis: ['shop', 'sky'] } });
const eve = await system.caller('eve', { permissions: {} });

describe('what administration puts in place', () => {
  let unsearchedBytes = 0;

  test('is found at once by permitted callers, and by no others', async () => {
    expect((await put('/admin/v1/apis/shop', SHOP)).status).toBe(201);
    expect((await put('/admin/v1/apis/shop', SHOP)).status).toBe(200);
    expect((await put('/admin/v1/knowledge/rules', RULES)).status).toBe(201);
    unsearchedBytes = system.residentBytes;
    // Before the first search the encoder is not there. What Node takes by itself differs from one version to the next.
    expect(unsearchedBytes - (await residentWithNothingToFind())).toBeLessThan(ENCODER_WEIGHTS);
    const found = await search(ada.api_key, { query: 'cancel an order', top_k: 1 });
    expect(found).toMatchObject({
      ranking: 'words+meaning',
      results: [{ id: 'shop DELETE /orders/{id}', type: 'endpoint' }],
    });
    expect(await search(ada.api_key, { query: 'goods back', kb_id: 'rules' })).toMatchObject({ count: 1 });
    expect(await search(eve.api_key, { query: 'cancel an order, goods, rain' })).toMatchObject({ results: [] });
    expect(await get('/api/v1/knowledge/bases', ada.api_key)).toEqual({
      knowledge_bases: [{ id: 'rules', description: null, documents: 1 }],
      count: 1,
    });
    expect(await get('/api/v1/knowledge/bases', eve.api_key)).toEqual({ knowledge_bases: [], count: 0 });
  });

  test('is returned as capabilities, by permission, with availableApis as an array and apis by id', async () => {
    expect(await get('/api/v1/capabilities', ada.api_key)).toMatchObject({
      agent_id: 'ada',
      capabilities: {
        availableApis: [
          { id: 'shop', base_url: 'https://shop.example' },
          { id: 'sky', base_url: 'https://sky.example' },
        ],
        apis: { shop: { base_url: 'https://shop.example' }, sky: { base_url: 'https://sky.example' } },
        supportedOperations: ['FilterData'],
        knowledgeBases: [{ id: 'rules' }],
        securityConstraints: { maxExecutionTime: 30_000, maxOperations: 20 },
      },
    });
    expect(await get('/api/v1/capabilities', eve.api_key)).toMatchObject({
      capabilities: {
        availableApis: [],
        apis: {},
        availableCredentials: [],
        supportedOperations: [],
        knowledgeBases: [],
      },
    });
  });

  test("another's knowledge base is answered like one that is not there, in the words of A2E", async () => {
    const refused = await Promise.all(
      ['rules', 'never-was'].map(async (id) => {
        const answer = await ask(eve.api_key, { query: 'goods', kb_id: id });
        return { status: answer.status, body: await answer.json() };
      }),
    );
    expect(refused[0]).toEqual(refused[1]);
    expect(refused[0]).toMatchObject({ status: 404, body: { error: { type: 'DataError' } } });
  });

  test('is found by its meaning once the encoder has come, while everybody else is served', async () => {
    let longest = 0;
    let going = true;
    const began = performance.now();
    const others = (async () => {
      while (going) {
        const start = performance.now();
        await get('/health');
        longest = Math.max(longest, performance.now() - start);
        // The encoder needs a processor too.
        await sleep(10);
      }
    })();
    const found = await byMeaning({ query: 'do I need an umbrella', top_k: 1 });
    const took = performance.now() - began;
    going = false;
    await others;
    expect(found).toMatchObject({ results: [{ id: 'sky GET /forecast', why: { meaning: expect.any(Number) } }] });
    // Loading takes seconds of work: one who waited for it would have waited for most of this time.
    expect(longest).toBeLessThan(took / 2);
    expect(system.residentBytes - unsearchedBytes).toBeGreaterThan(ENCODER_WEIGHTS);
  }, 60_000);

  test('is there after kill -9, and gone after it was removed', async () => {
    await system.kill();
    await system.start();
    expect(await search(ada.api_key, { query: 'cancel an order' })).toMatchObject({ count: expect.any(Number) });
    expect(await search(ada.api_key, { query: 'goods back', kb_id: 'rules' })).toMatchObject({ count: 1 });
    await remove('/admin/v1/apis/shop', 200);
    await remove('/admin/v1/knowledge/rules', 200);
    await remove('/admin/v1/apis/shop', 404);
    expect(JSON.stringify(await search(ada.api_key, { query: 'cancel an order' }))).not.toContain('shop');
    await system.kill();
    await system.start();
    const list = await get('/admin/v1/apis', system.adminKey);
    expect(list).toMatchObject({ apis: [{ id: 'sky', from: 'config' }] });
    await remove('/admin/v1/apis/sky', 409);
  });
});

describe('what is wrong', () => {
  test.each([
    ['http without the gate', '/admin/v1/apis/a', { base_url: 'http://127.0.0.1:9' }, '/base_url'],
    ['a name of everything', '/admin/v1/apis/%2A', { base_url: 'https://a.example' }, ''],
    ['no agent named', '/admin/v1/knowledge/a', { documents: [] }, '/agents'],
    [
      'a document twice',
      '/admin/v1/knowledge/a',
      { agents: [], documents: [document(), document()] },
      '/documents/1/id',
    ],
  ])('is refused and kept nowhere: %s', async (_, path, json, pointer) => {
    const answer = await put(path, json);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code: 'invalid_message', issues: [{ pointer }] });
    expect((await call(system.url, { path, key: system.adminKey })).status).toBe(404);
  });

  test.each([
    {},
    { query: '' },
    { query: '  ' },
    { query: 'a', top_k: 0 },
    { query: 'a', type: 'secret' },
    { query: 'a', x: 1 },
  ])('is returned in the terms of A2E: %j', async (json) => {
    const answer = await ask(ada.api_key, json);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { type: 'ValidationError' } });
  });
});

test('tools and stored workflows are found by callers that may call them, and by no others', async () => {
  const tools = ['say', 'weekly_report', 'every__echo'];
  const { api_key: key } = await system.caller('tia', { permissions: { tools } });
  const found = async (query: string, type: string) => ((await search(key, { query, type })) as JsonObject)['results'];
  expect(await found('say something back', 'tool')).toContainEqual(
    expect.objectContaining({
      type: 'tool',
      id: 'say',
      tool: 'say',
      input_schema: expect.objectContaining({ required: ['content'] }),
    }),
  );
  expect(await found('report of the week', 'workflow')).toEqual([
    expect.objectContaining({ type: 'workflow', id: 'weekly_report', tool: 'weekly_report' }),
  ]);
  // Those of an MCP server come when it is there.
  await expect
    .poll(() => found('echo a message', 'tool'))
    .toContainEqual(expect.objectContaining({ id: 'every__echo' }));
  expect(JSON.stringify(await found('for others', 'tool'))).not.toContain('secret');
  expect(await search(eve.api_key, { query: 'say report echo' })).toMatchObject({ results: [] });
});

async function residentWithNothingToFind(): Promise<number> {
  await using plain = await System.start({ config: {} });
  return plain.residentBytes;
}

function put(path: string, json: JsonObject) {
  return call(system.url, { method: 'PUT', path, key: system.adminKey, json });
}

async function remove(path: string, status: number): Promise<void> {
  expect((await call(system.url, { method: 'DELETE', path, key: system.adminKey })).status).toBe(status);
}

async function get(path: string, key?: string): Promise<unknown> {
  return (await call(system.url, { path, ...(key !== undefined && { key }) })).json();
}

function ask(key: string, json: JsonObject) {
  return call(system.url, { method: 'POST', path: '/api/v1/knowledge/search', key, json });
}

async function search(key: string, json: JsonObject): Promise<unknown> {
  const answer = await ask(key, json);
  expect(answer.status).toBe(200);
  return answer.json();
}

async function byMeaning(json: JsonObject): Promise<unknown> {
  for (;;) {
    const found = (await search(ada.api_key, json)) as { ranking: string; pending?: number };
    if (found.ranking === 'words+meaning' && found.pending === undefined) return found;
    await sleep(50);
  }
}

function forecast() {
  return { method: 'GET', path: '/forecast', description: 'Tells the weather of the coming days.' } as const;
}

function document(): JsonObject {
  return { id: 'returns', text: 'Goods are taken back for thirty days.' };
}

const SHOP: JsonObject = {
  openapi: {
    openapi: '3.0.0',
    servers: [{ url: 'https://shop.example' }],
    paths: {
      '/orders/{id}': { delete: { summary: 'Cancel an order' } },
      '/orders': { get: { summary: 'List orders' } },
    },
  },
};
/** In bytes; what computes with them takes several times as much. */
const ENCODER_WEIGHTS = 28_000_000;
const RULES: JsonObject = { agents: ['ada'], documents: [document()] };
