import { type Server, startServer, systemClock, systemIds } from '@dragoman/server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SilentLog } from '../../../core/test-support/silent-log.ts';
import { FakeSurroundings } from '../../test-support/fake-surroundings.ts';
import { main } from '../main.ts';

const SECRET = 'the-secret-of-the-crm';
const ADMIN_KEY = 'adm_0123456789abcdef0123456789abcdef';
const SILENT = new SilentLog();
let server: Server;

beforeAll(async () => {
  const ports = { clock: systemClock, ids: systemIds, log: SILENT };
  server = await startServer({
    config: { port: 0, store: 'memory' },
    folder: '/nowhere',
    adminKey: ADMIN_KEY,
    ...ports,
  });
});
afterAll(() => server.stop({ drainMs: 0 }));

test('a secret is set from stdin, listed without its value, sealed again and removed', async () => {
  const set = await run(['vault', 'set', 'crm', '--host', 'api.example.com', '--place', 'query'], `${SECRET}\n`);
  expect([set.code, set.out]).toEqual([0, 'kept crm, for api.example.com\n']);
  const list = await run(['vault', 'list', '--json']);
  expect(JSON.parse(list.out).credentials).toMatchObject([
    { id: 'crm', type: 'bearer-token', hosts: ['api.example.com'], places: ['query'] },
  ]);
  expect((await run(['vault', 'list'])).out).toContain('api.example.com');
  expect((await run(['vault', 'rotate'])).code).toBe(0);
  expect((await run(['vault', 'remove', 'crm'])).out).toBe('removed crm\n');
  const again = await run(['vault', 'remove', 'crm']);
  expect([again.code, again.notes]).toEqual([1, expect.stringContaining('there is no credential "crm"')]);
  expect(JSON.stringify([set, list])).not.toContain(SECRET);
});

test('a secret among the arguments is refused, and is not repeated', async () => {
  const { code, notes } = await run(['vault', 'set', 'crm', SECRET, '--host', 'api.example.com'], 'x');
  expect([code, notes]).toEqual([2, expect.stringContaining('read from stdin')]);
  expect(notes).not.toContain(SECRET);
});

test('every problem with a credential is reported', async () => {
  const { code, notes } = await run(['vault', 'set', 'crm', '--host', 'https://api.example.com'], SECRET);
  expect([code, notes]).toEqual([1, expect.stringContaining('must be host or host:port')]);
});

async function run(args: readonly string[], stdin = '') {
  const surroundings = new FakeSurroundings({ stdin, environment: { DRAGOMAN_ADMIN_KEY: ADMIN_KEY } });
  const code = await main([...args, '--url', server.url], surroundings);
  return { code, out: surroundings.out, notes: surroundings.notes };
}
