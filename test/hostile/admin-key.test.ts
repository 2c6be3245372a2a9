import { expect, test } from 'vitest';
import { call } from '../system/call.ts';
import { System } from '../system/system.ts';

const [FIRST, SECOND] = ['first-admin-key-0123456789', 'second-admin-key-0123456789'];

test('a changed DRAGOMAN_ADMIN_KEY ends the earlier one, and no key that was made with it', async () => {
  await using system = System.create();
  await system.start({ DRAGOMAN_ADMIN_KEY: FIRST });
  const made = await create(system, FIRST, { role: 'admin', description: 'for the console' });
  await system.stop();
  await system.start({ DRAGOMAN_ADMIN_KEY: SECOND });
  expect(await Promise.all([FIRST, SECOND, made].map((key) => listStatus(system, key)))).toEqual([401, 200, 200]);
  await system.stop();

  expect(await system.begin({ DRAGOMAN_ADMIN_KEY: FIRST })).toBe(false);
  expect(system.log).toMatch(
    /DRAGOMAN_ADMIN_KEY holds the key key-\w+, which was revoked on .+\. Make a new one: export/,
  );
  expect(system.log).not.toContain('UNIQUE');
  expect(system.log).not.toContain(FIRST);
  await system.exited;
  await system.start({ DRAGOMAN_ADMIN_KEY: SECOND });
  expect(await listStatus(system, SECOND)).toBe(200);
});

test('a revoked DRAGOMAN_ADMIN_KEY does not start a server, and another one does', async () => {
  await using system = System.create();
  await system.start({ DRAGOMAN_ADMIN_KEY: FIRST });
  const { keys } = (await (await call(system.url, { path: '/admin/v1/keys', key: FIRST })).json()) as {
    keys: { key_id: string }[];
  };
  const path = `/admin/v1/keys/${keys[0]?.key_id}`;
  const other = await create(system, FIRST, { role: 'admin' });
  expect((await call(system.url, { method: 'DELETE', path, key: other })).status).toBe(200);
  await system.kill();
  expect(await system.begin({ DRAGOMAN_ADMIN_KEY: FIRST })).toBe(false);
  expect(system.log).toContain(`DRAGOMAN_ADMIN_KEY holds the key ${keys[0]?.key_id}, which was revoked on`);
  await system.exited;
  await system.start({ DRAGOMAN_ADMIN_KEY: SECOND });
  expect(await listStatus(system, SECOND)).toBe(200);
});

test('a key under 24 characters is refused before a port is opened, with the command that makes a good one', async () => {
  await using system = System.create();
  expect(await system.begin({ DRAGOMAN_ADMIN_KEY: 'x'.repeat(23) })).toBe(false);
  expect(system.log).toContain('DRAGOMAN_ADMIN_KEY has 23 characters; it needs at least 24. Make a new one: export');
});

test('no key can be described as the one of the environment, which the next rotation would revoke', async () => {
  await using system = System.create();
  await system.start({ DRAGOMAN_ADMIN_KEY: FIRST });
  const json = { role: 'admin', description: 'from the environment' };
  const refused = await call(system.url, { method: 'POST', path: '/admin/v1/keys', key: FIRST, json });
  expect([refused.status, await refused.json()]).toMatchObject([400, { issues: [{ pointer: '/description' }] }]);
});

async function create({ url }: System, key: string, json: object): Promise<string> {
  const answer = await call(url, { method: 'POST', path: '/admin/v1/keys', key, json });
  return ((await answer.json()) as { api_key: string }).api_key;
}

async function listStatus({ url }: System, key: string): Promise<number> {
  return (await call(url, { path: '/admin/v1/keys', key })).status;
}
