import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { jsonLog, startServer, systemClock, systemIds } from '@dragoman/server';
import { expect, test } from 'vitest';
import { FakeSurroundings } from '../../test-support/fake-surroundings.ts';
import { temporaryFolder } from '../../test-support/temporary-folder.ts';
import { main } from '../main.ts';

test('knowledge bases are made from files, listed and removed', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'how we ship.md'), '# Shipping\n\nBy ship, within five days.\n');
  writeFileSync(join(folder, 'returns.txt'), 'Goods are taken back for thirty days.\n');
  await using server = await startServer({
    config: { port: 0, store: 'memory' },
    folder,
    clock: systemClock,
    ids: systemIds,
    log: jsonLog('silent'),
    adminKey: 'dgm_brought_along_by_the_operator',
  });
  const run = async (...args: string[]) => {
    const surroundings = new FakeSurroundings({
      folder,
      environment: { DRAGOMAN_ADMIN_KEY: 'dgm_brought_along_by_the_operator' },
    });
    const code = await main(['knowledge', ...args, '--url', server.url], surroundings);
    return { code, stdout: surroundings.out, stderr: surroundings.notes };
  };

  const added = await run(
    'add',
    'rules',
    'how we ship.md',
    'returns.txt',
    '--agent',
    '*',
    '--description',
    'House rules',
  );
  expect(added).toMatchObject({ code: 0, stdout: 'added rules: 2 documents\n' });
  const { stdout } = await run('list');
  expect(stdout).toMatch(/KNOWLEDGE BASE.*\nrules +2 +\* +House rules/);
  expect(JSON.parse((await run('list', '--json')).stdout)).toEqual({
    knowledge_bases: [{ id: 'rules', description: 'House rules', agents: ['*'], documents: 2 }],
  });
  const stored = await fetch(`${server.url}/admin/v1/knowledge/rules`, {
    headers: { authorization: 'Bearer dgm_brought_along_by_the_operator' },
  });
  expect(await stored.json()).toMatchObject({
    documents: [
      { id: 'how-we-ship', title: 'Shipping', text: '# Shipping\n\nBy ship, within five days.' },
      { id: 'returns', text: 'Goods are taken back for thirty days.' },
    ],
  });

  expect(await run('add', 'rules', 'none.md', '--agent', '*')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('file not found'),
  });
  expect(await run('add', 'rules', 'returns.txt')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--agent'),
  });
  expect(await run('remove', 'rulez')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('did you mean rules?'),
  });
  expect(await run('remove', 'rules')).toMatchObject({ code: 0, stdout: 'removed rules\n' });
  expect(JSON.parse((await run('list', '--json')).stdout)).toEqual({ knowledge_bases: [] });
});
