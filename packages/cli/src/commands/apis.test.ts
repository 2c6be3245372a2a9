import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { jsonLog, startServer, systemClock, systemIds } from '@dragoman/server';
import { expect, test } from 'vitest';
import { FakeSurroundings } from '../../test-support/fake-surroundings.ts';
import { temporaryFolder } from '../../test-support/temporary-folder.ts';
import { main } from '../main.ts';

test('APIs are added by hand and from an OpenAPI document, listed and removed', async () => {
  const folder = temporaryFolder();
  writeFileSync(
    join(folder, 'shop.yaml'),
    `openapi: 3.0.3
info: { title: A shop }
servers: [{ url: https://shop.example/v1 }]
paths:
  /orders:
    get: { summary: Lists the orders }
    options: {}
`,
  );
  writeFileSync(join(folder, 'other.yaml'), 'port: 0\n');
  writeFileSync(join(folder, 'relative.yaml'), 'openapi: 3.0.3\nservers: [{ url: /v1 }]\npaths: {}\n');
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
    const code = await main(['apis', ...args, '--url', server.url], surroundings);
    return { code, stdout: surroundings.out, stderr: surroundings.notes };
  };

  expect(await run('add', 'shop', '--openapi', 'shop.yaml')).toMatchObject({
    code: 0,
    stdout: 'added shop: https://shop.example/v1, 1 endpoint\n',
    stderr: expect.stringContaining('OPTIONS /orders is left out'),
  });
  const byHand = [
    '--base-url',
    'https://sky.example/',
    '--endpoint',
    'get /forecast Tells the weather.',
    '--accepts-data-from',
    'CRM.example',
  ];
  expect(await run('add', 'sky', ...byHand, '--json')).toMatchObject({ code: 0 });
  const { stdout } = await run('list', '--json');
  expect(JSON.parse(stdout)).toMatchObject({
    apis: [
      { id: 'shop', description: 'A shop.', endpoints: [{ description: 'Lists the orders.' }], from: 'admin' },
      {
        id: 'sky',
        endpoints: [{ method: 'GET', path: '/forecast', description: 'Tells the weather.' }],
        accepts_data_from: ['crm.example'],
      },
    ],
  });
  expect((await run('list')).stdout).toMatch(/^API .*\nshop +https:\/\/shop\.example\/v1 +1 +admin +A shop\.\n/);
  expect(await run('remove', 'sho')).toMatchObject({ code: 1, stderr: expect.stringContaining('did you mean shop?') });
  expect(await run('remove', 'shop')).toMatchObject({ code: 0, stdout: 'removed shop\n' });
  expect(await run('add', 'sky', '--base-url', 'http://sky.example')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(
      'base_url must be an allowed destination; got "http://sky.example". Outbound request blocked: ',
    ),
  });
  expect(await run('add', 'sky', '--endpoint', 'FETCH /x')).toMatchObject({ code: 2 });
  expect(await run('add', 'sky', '--openapi', 'other.yaml')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is not an OpenAPI document'),
  });
  expect(await run('add', 'sky', '--openapi', 'relative.yaml')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('--base-url https://'),
  });
});
