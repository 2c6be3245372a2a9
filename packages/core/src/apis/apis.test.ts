import { failure } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import { memoryStore } from '../../test-support/memory-store.ts';
import { SilentLog } from '../../test-support/silent-log.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import type { Gate } from '../gate/gate.ts';
import { Apis, decodeApi } from './apis.ts';

const store = memoryStore();

function open(gate?: Pick<Gate, 'check'>, apis = store.apis): Apis {
  return new Apis({ store: apis, clock: new TestClock(), log: new SilentLog(), ...(gate !== undefined && { gate }) });
}

function api(id: string, base_url = 'https://api.example.com') {
  const decoded = decodeApi(id, { base_url, endpoints: [{ method: 'GET', path: '/users' }] });
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.issues));
  return decoded.value;
}

test('a stored API exists immediately, and after a restart', async () => {
  const apis = open();
  await apis.load();
  const before = apis.version;
  expect(await apis.put(api('users'))).toBe('made');
  expect(await apis.put(api('users'))).toBe('replaced');
  expect(apis.version).toBeGreaterThan(before);
  const again = open();
  await again.load();
  expect(again.list()).toEqual([
    {
      id: 'users',
      base_url: 'https://api.example.com',
      description: null,
      endpoints: [{ method: 'GET', path: '/users', description: null }],
    },
  ]);
  expect(await again.remove('users')).toBe(true);
  expect(await again.remove('users')).toBe(false);
  expect(again.find('users')).toBeUndefined();
});

test('one of the configuration is changed there only, and wins over a stored one', async () => {
  const memory = memoryStore().apis;
  const first = open(undefined, memory);
  await first.load();
  await first.put(api('shop'));
  const apis = open(undefined, memory);
  await apis.load({ shop: { base_url: 'https://shop.example.com/' } });
  expect(apis.list().map(({ base_url }) => base_url)).toEqual(['https://shop.example.com']);
  await expect(apis.put(api('shop'))).rejects.toMatchObject({ failure: { code: 'conflict' } });
  await expect(apis.remove('shop')).rejects.toMatchObject({ failure: { code: 'conflict' } });
});

test('an invalid one of the configuration stops the start, and its place is reported', async () => {
  await expect(open().load({ shop: { base_url: 'shop.example.com' } })).rejects.toThrow(/apis\.shop: base_url must be/);
});

test('plain http needs the gate to allow it', async () => {
  await expect(open().put(api('demo', 'http://127.0.0.1:9000'))).rejects.toMatchObject({
    failure: { code: 'invalid_message', details: { issues: [{ pointer: '/base_url' }] } },
  });
  const urls: string[] = [];
  const gate = {
    check: async (url: string) => {
      urls.push(url);
      return url.includes(':9000') ? undefined : failure('forbidden', {}, 'it is not allowed');
    },
  };
  expect(await open(gate, memoryStore().apis).put(api('demo', 'http://127.0.0.1:9000'))).toBe('made');
  await expect(open(gate).put(api('demo', 'http://127.0.0.1:9001'))).rejects.toThrow(/it is not allowed/);
  // Without a port gate.allow means 443.
  await expect(open().put(api('demo', 'http://shop.example/v1'))).rejects.toMatchObject({
    failure: { details: { issues: [{ suggestion: expect.stringContaining('add shop.example:80 to gate.allow') }] } },
  });
  expect(urls).toEqual(['http://127.0.0.1:9000', 'http://127.0.0.1:9001']);
});

test('a host that does not answer at the moment is not refused', async () => {
  const gate = { check: async () => failure('timeout') };
  expect(await open(gate, memoryStore().apis).put(api('far'))).toBe('made');
});

test.each([
  ['no base URL', { endpoints: [] }, '/base_url'],
  [
    'a method there is not',
    { base_url: 'https://a.example', endpoints: [{ method: 'HEAD', path: '/' }] },
    '/endpoints/0/method',
  ],
  [
    'a path with a query',
    { base_url: 'https://a.example', endpoints: [{ method: 'GET', path: '/a?b' }] },
    '/endpoints/0/path',
  ],
  ['an unknown member', { base_url: 'https://a.example', token: 'x' }, '/token'],
  [
    'the same endpoint twice',
    {
      base_url: 'https://a.example',
      endpoints: [
        { method: 'GET', path: '/a' },
        { method: 'GET', path: '/a' },
      ],
    },
    '/endpoints/1',
  ],
  ['an invalid document', { openapi: {} }, '/openapi'],
])('refuses %s', (_, json, pointer) => {
  expect(decodeApi('a', json)).toMatchObject({ ok: false, issues: [{ pointer }] });
});

test.each(['', '*', '../x', 'a b', '__proto__', 'x'.repeat(101)])('refuses the id %j', (id) => {
  expect(decodeApi(id, { base_url: 'https://a.example' })).toMatchObject({ ok: false, issues: [{ code: 'id' }] });
});

test.each([
  ['names no server', {}],
  ['has a relative server', { servers: [{ url: '/v1' }] }],
  ['has a server with blanks', { servers: [{ url: 'https://{region}.shop.example' }] }],
])('a document that %s needs a base URL beside it', (_, more) => {
  expect(decodeApi('a', { openapi: { openapi: '3.0.0', paths: {}, ...more } })).toMatchObject({
    ok: false,
    issues: [{ pointer: '/base_url', suggestion: expect.stringContaining('base_url beside the document') }],
  });
});

test('settings beside a document win over it', () => {
  const openapi = {
    openapi: '3.0.0',
    servers: [{ url: '/v1' }],
    info: { title: 'Theirs' },
    paths: { '/a': { get: {} } },
  };
  expect(decodeApi('a', { openapi, base_url: 'https://a.example/v1', description: 'Ours' })).toMatchObject({
    value: { base_url: 'https://a.example/v1', description: 'Ours', endpoints: [{ path: '/a' }] },
  });
});
