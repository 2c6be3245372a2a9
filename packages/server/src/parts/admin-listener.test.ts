import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { SilentLog } from '../../../core/test-support/silent-log.ts';
import { startServer } from '../server.ts';
import { systemClock, systemIds } from './system-ports.ts';

const folder = mkdtempSync(join(tmpdir(), 'admin-listener-test-'));
const adminKey = 'an-admin-key-of-the-operator-0123456789';
const server = await startServer({
  config: { port: 0, store: 'memory', admin: { port: 0 } },
  folder,
  clock: systemClock,
  ids: systemIds,
  log: new SilentLog(),
  adminKey,
});
afterAll(async () => {
  await server.stop({ drainMs: 100 });
  rmSync(folder, { recursive: true, force: true });
});

const asAdmin = { headers: { 'x-api-key': adminKey } };

/** Every path with its methods, as the server lists them, with a value for each parameter. */
async function surfaces(): Promise<{ path: string; method: string }[]> {
  const { paths } = (await (await fetch(`${server.url}/openapi.json`)).json()) as { paths: Record<string, object> };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ path: path.replace(/\{\w+\}/g, 'x'), method: method.toUpperCase() })),
  );
}

test('the administration has its own address, and answers there', async () => {
  expect(server.adminUrl).not.toBe(server.url);
  const made = await fetch(`${server.adminUrl}/admin/v1/agents`, {
    method: 'POST',
    headers: { ...asAdmin.headers, 'content-type': 'application/json' },
    body: JSON.stringify({ agent_id: 'ada-agent', permissions: {} }),
  });
  expect(made.status).toBe(201);
  const { api_key: key } = (await made.json()) as { api_key: string };
  const refused = await fetch(`${server.adminUrl}/admin/v1/agents`, { headers: { 'x-api-key': key } });
  expect(refused.status).toBe(403);
  expect((await fetch(`${server.adminUrl}/health`)).status).toBe(200);
});

test('nothing of it is where agents are, with any key', async () => {
  const admin = (await surfaces()).filter(({ path }) => path.startsWith('/admin/'));
  expect(admin.length).toBeGreaterThan(20);
  for (const { path, method } of admin) {
    expect([path, (await fetch(server.url + path, { method, ...asAdmin })).status]).toEqual([path, 404]);
  }
});

test('nothing of the agents is where it is', async () => {
  const isShared = (path: string) => path === '/health' || path === '/' || path.startsWith('/console/');
  const others = (await surfaces()).filter(({ path }) => !path.startsWith('/admin/') && !isShared(path));
  expect(others.length).toBeGreaterThan(20);
  for (const { path, method } of others) {
    expect([path, (await fetch(server.adminUrl + path, { method, ...asAdmin })).status]).toEqual([path, 404]);
  }
});
