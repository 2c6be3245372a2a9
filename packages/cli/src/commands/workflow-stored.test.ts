import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { jsonLog, startServer, systemClock, systemIds } from '@dragoman/server';
import { expect, test } from 'vitest';
import { FakeSurroundings } from '../../test-support/fake-surroundings.ts';
import { temporaryFolder } from '../../test-support/temporary-folder.ts';
import { main } from '../main.ts';

test('workflows are stored, listed and removed by name', async () => {
  const folder = temporaryFolder();
  const lines = (operation: object) =>
    [
      { type: 'operationUpdate', operationId: 'rest', operation },
      { type: 'beginExecution', executionId: 'e', operationOrder: ['rest'] },
    ]
      .map((line) => JSON.stringify(line))
      .join('\n');
  writeFileSync(join(folder, 'rest.jsonl'), lines({ Wait: { duration: '{{ms}}' } }));
  writeFileSync(join(folder, 'wrong.jsonl'), lines({ Wiat: {} }));
  const adminKey = 'dgm_brought_along_by_the_operator';
  await using server = await startServer({
    config: { port: 0, store: 'memory' },
    folder,
    clock: systemClock,
    ids: systemIds,
    log: jsonLog('silent'),
    adminKey,
  });
  const run = async (...args: string[]) => {
    const surroundings = new FakeSurroundings({ folder, environment: { DRAGOMAN_ADMIN_KEY: adminKey } });
    const code = await main(['workflow', 'stored', ...args, '--url', server.url], surroundings);
    return { code, stdout: surroundings.out, stderr: surroundings.notes };
  };

  expect((await run('list')).stderr).toBe('none: no workflow is stored\n');
  const put = ['put', 'rest', 'rest.jsonl', '--description', 'Rests.'];
  expect(await run(...put)).toMatchObject({ code: 0, stdout: 'stored rest: version 1\n' });
  expect(await run(...put)).toMatchObject({ stdout: 'stored rest: version 1\n' });
  expect(await run('put', 'rest', 'rest.jsonl')).toMatchObject({ stdout: 'stored rest: version 2\n' });
  expect(JSON.parse((await run('list', '--json')).stdout)).toMatchObject({
    workflows: [{ name: 'rest', version: 2, inputs: { required: ['ms'] }, from: 'admin' }],
  });
  expect((await run('list')).stdout).toMatch(/^WORKFLOW +VERSION +INPUTS +FROM +DESCRIPTION\nrest +2 +ms +admin/);
  expect(await run('put', 'wrong', 'wrong.jsonl')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('line 1: "Wiat" is not an operation'),
  });
  expect(await run('remove', 'rset')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('did you mean rest?'),
  });
  expect(await run('remove', 'rest')).toMatchObject({ code: 0, stdout: 'removed rest\n' });
});
