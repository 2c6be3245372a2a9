import { jsonLog, startServer, systemClock, systemIds } from '@dragoman/server';
import { expect, test } from 'vitest';
import { FakeSurroundings } from '../../test-support/fake-surroundings.ts';
import { temporaryFolder } from '../../test-support/temporary-folder.ts';
import { main } from '../main.ts';

test('the records of an agent are deleted, all of them or one request', async () => {
  const folder = temporaryFolder();
  const admin = 'dgm_brought_along_by_the_operator';
  const options = { folder, clock: systemClock, ids: systemIds, log: jsonLog('silent'), adminKey: admin };
  await using server = await startServer({ config: { port: 0, store: 'memory' }, ...options });
  const ask = (path: string, key: string, json: object) =>
    fetch(new URL(path, server.url), {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(json),
    });
  const made = await ask('/admin/v1/agents', admin, { agent_id: 'ada', permissions: { operations: ['*'] } });
  const { api_key: key } = (await made.json()) as { api_key: string };
  for (const id of ['one', 'two', 'three']) {
    const now =
      '{"type":"operationUpdate","operationId":"n","operation":{"GetCurrentDateTime":{"outputPath":"/workflow/n"}}}';
    const begin = JSON.stringify({ type: 'beginExecution', executionId: id, operationOrder: ['n'] });
    expect((await ask('/api/v1/workflows/execute', key, { workflow: `${now}\n${begin}` })).status).toBe(200);
  }
  const run = async (...args: string[]) => {
    const surroundings = new FakeSurroundings({ folder, environment: { DRAGOMAN_ADMIN_KEY: admin } });
    const code = await main(['agents', 'forget', ...args, '--url', server.url], surroundings);
    return { code, stdout: surroundings.out, stderr: surroundings.notes };
  };
  expect(await run('ada', '--request', 'one')).toMatchObject({ code: 0, stdout: 'forgot one of ada\n' });
  expect(await run('ada', '--request', 'one')).toMatchObject({ code: 1, stderr: expect.stringContaining('not found') });
  expect(await run('ada')).toMatchObject({ code: 0, stdout: 'forgot 2 executions of ada\n' });
  expect(JSON.parse((await run('ada', '--json')).stdout)).toMatchObject({ forgotten: { executions: 0 }, under_way: 0 });
  expect(await run('nobody')).toMatchObject({ code: 1, stderr: expect.stringContaining('Agent not found') });
  expect(await run('ada', '--admin-key', 'wrong')).toMatchObject({ code: 1 });
});
