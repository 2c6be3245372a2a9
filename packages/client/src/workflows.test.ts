import type { JsonObject } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import { all } from '../test-support/all.ts';
import { FaultProxy } from '../test-support/fault-proxy.ts';
import { realServer } from '../test-support/real-server.ts';
import { createClient } from './client.ts';

const lines = (id: string, operations: JsonObject): JsonObject[] => [
  ...Object.entries(operations).map(([operationId, operation]) => ({
    type: 'operationUpdate',
    operationId,
    operation,
  })),
  { type: 'beginExecution', executionId: id, operationOrder: Object.keys(operations) },
];
const call = { ApiCall: { method: 'GET', url: 'https://api.example.com/x', outputPath: '/workflow/x' } };
const time = { GetCurrentDateTime: { format: 'timestamp', outputPath: '/workflow/now' } };

test('a workflow is checked, planned and run, as lines and as text', async () => {
  const { client } = await realServer();
  const workflow = lines('sdk-1', { time });
  expect(await client.workflows.validate(workflow)).toMatchObject({ valid: true });
  expect(await client.workflows.plan(workflow)).toMatchObject({
    execution_id: 'sdk-1',
    steps: [{ operationId: 'time' }],
  });
  const result = await client.workflows.execute(workflow);
  expect(result).toMatchObject({ execution_id: 'sdk-1', status: 'success' });
  expect(await client.workflows.find('sdk-1')).toEqual(result);
  const text = workflow.map((line) => JSON.stringify(line)).join('\n');
  const { started_at: firstRunAt } = result;
  expect(await client.workflows.execute(text)).toEqual({ ...result, replayed: true, first_run_at: firstRunAt });
  expect((await client.workflows.list({ limit: 5 })).executions).toMatchObject([{ execution_id: 'sdk-1' }]);
  const { capabilities } = await client.workflows.capabilities();
  expect(capabilities.supportedOperations).toContain('ApiCall');
});

test('one that takes long is started, followed and cancelled', async () => {
  const { client } = await realServer();
  const id = await client.workflows.start(lines('sdk-2', { wait: { Wait: { duration: 20_000 } } }));
  expect(await client.workflows.find(id)).toMatchObject({ status: 'running' });
  expect(await client.workflows.cancel(id)).toBe(true);
  expect(await client.workflows.result(id, { everyMs: 5 })).toMatchObject({ status: 'cancelled' });
  expect(await client.workflows.cancel(id)).toBe(false);
});

test('the events of an execution are followed to its end, over a connection that breaks, and again afterwards', async () => {
  const { url, key, client } = await realServer();
  const proxy = await FaultProxy.before(url);
  const retry = { firstMs: 1, mostMs: 5 };
  const { workflows } = createClient({ url: proxy.url, key, retry });
  const wait = (outputPath: string) => ({ GetCurrentDateTime: { format: 'timestamp', outputPath } });
  const id = await client.workflows.start(
    lines('sdk-7', { a: wait('/workflow/a'), pause: { Wait: { duration: 50 } }, b: wait('/workflow/b') }),
  );
  proxy.plan({ cutAfter: 700 }, { cutAfter: 700 });
  const received = await all(workflows.events(id));
  expect(
    received.map((event) => ('operationId' in event ? `${event.event} ${event.operationId}` : event.event)),
  ).toEqual([
    ...['operation-started a', 'operation-finished a', 'operation-started pause', 'operation-finished pause'],
    ...['operation-started b', 'operation-finished b', 'execution-finished'],
  ]);
  expect(proxy.connections).toBeGreaterThan(2);
  expect(received.at(-1)).toMatchObject({ result: await workflows.find(id) });
  expect(await all(workflows.events(id))).toEqual(received);
  await expect(all(workflows.events('nobody'))).rejects.toMatchObject({ code: 'not_found' });
});

test('one that has ended is forgotten, one that runs is not', async () => {
  const { client } = await realServer();
  await client.workflows.execute(lines('sdk-5', { time }));
  expect(await client.workflows.forget('sdk-5')).toEqual({ execution_id: 'sdk-5', removed: true });
  await expect(client.workflows.forget('sdk-5')).rejects.toMatchObject({ code: 'not_found', status: 404 });
  const id = await client.workflows.start(lines('sdk-6', { wait: { Wait: { duration: 20_000 } } }));
  await expect(client.workflows.forget(id)).rejects.toMatchObject({ code: 'conflict', status: 409 });
  await client.workflows.cancel(id);
});

test('a workflow that cannot start is thrown, with issues and suggestions', async () => {
  const { client } = await realServer();
  const unknown = client.workflows.execute(lines('sdk-3', { a: { Wiat: {} } }));
  await expect(unknown).rejects.toMatchObject({ code: 'invalid_message', status: 400, issues: [{}] });
  await expect(client.workflows.execute(lines('sdk-4', { call }))).rejects.toMatchObject({
    code: 'forbidden',
    status: 403,
  });
  await expect(client.workflows.find('nobody')).rejects.toMatchObject({ code: 'not_found', status: 404 });
});

test('a caller can read its limits, and stored values can be forgotten, for one caller or for all', async () => {
  const { client, admin } = await realServer();
  const { limits, usage, remaining } = await client.workflows.limits();
  expect(Object.keys(limits)).toEqual(Object.keys(remaining));
  expect(Object.keys(usage)).toHaveLength(5);
  expect(await client.workflows.invalidate()).toBe(0);
  expect(await admin.admin.invalidate()).toBe(0);
});

test('resources are found by their use, and the knowledge bases are listed', async () => {
  const { client, admin } = await realServer();
  const documents = [{ id: 'returns', text: 'Goods are taken back for thirty days.' }];
  await admin.admin.knowledge.put('rules', { agents: ['*'], documents });
  expect(await client.knowledge.bases()).toEqual([{ id: 'rules', description: null, documents: 1 }]);
  const found = await client.knowledge.search('goods taken back', { kb_id: 'rules', top_k: 1 });
  expect(found).toMatchObject({ query: 'goods taken back', count: 1, results: [{ type: 'document' }] });
  const { partial_schema } = await client.knowledge.search('sort rows', { type: 'operation', partial_schema: true });
  expect(partial_schema).toMatchObject({ type: 'object' });
});
