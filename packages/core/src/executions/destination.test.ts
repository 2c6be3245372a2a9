import { expect, test } from 'vitest';
import type { Api } from '../apis/api.ts';
import { KnownUrls } from '../gate/known-urls.ts';
import { CredentialUse } from '../secrets/credential-use.ts';
import { refuseDestination } from './destination.ts';

const shop: Api = { id: 'shop', base_url: 'https://api.example.com/v1', description: null, endpoints: [] };
const stock: Api = { ...shop, id: 'stock', base_url: 'https://api.example.com/v1/stock' };
const apis = catalogue(shop);
const refused = (url: string, permitted: readonly string[] = ['shop'], { among = apis, headers = {} } = {}) =>
  refuseDestination(new KnownUrls().read(url), { apis: permitted }, among, {
    method: 'GET',
    query: [],
    headers,
    body: undefined,
  })?.code;

test.each([
  'https://api.example.com/v1',
  'https://api.example.com/v1/',
  'https://API.example.com/v1/users?a=..%2f',
  'https://api.example.com/v1//users',
  'https://api.example.com/v1/users;v=2/100%25',
  'https://api.example.com/v1/a..b/...',
  'https://api.example.com/v1/%C3%A9t%C3%A9',
])('%s is inside', (url) => expect(refused(url)).toBeUndefined());

test.each([
  'https://api.example.com/',
  'https://api.example.com/v10/users',
  'https://api.example.com/v1/../admin',
  'https://api.example.com/v1/%2e%2e/admin',
  'https://api.example.com/v1/..%2fadmin',
  'https://api.example.com/v1/%2e%2e%5cadmin',
  'https://api.example.com/v1\\..\\admin',
  'https://api.example.com/v1/..;/admin',
  'https://api.example.com/v1/..;a=b/admin',
  'https://api.example.com/v1/.%2e%3b/admin',
  'https://api.example.com/v1/a%2f..%2f..%2fadmin',
  'https://api.example.com/v1/%252e%252e/admin',
  'https://api.example.com/v1/..%252fadmin',
  'https://api.example.com/v1/%25252e%25252e%25252fadmin',
  'https://api.example.com/v1/%c0%ae%c0%ae/admin',
  'https://api.example.com/v1/%e0%80%ae%e0%80%ae/admin',
  'https://api.example.com/v1/..%00/admin',
  'https://api.example.com/v1/..%20/admin',
  'https://api.example.com/v1//../../admin',
  'https://api.example.com//v1/users',
  'https://api.example.com/v1;x/users',
  'https://api.example.com/v1%2fusers',
  'http://api.example.com/v1/users',
  'https://api.example.com:8443/v1/users',
  'https://api.example.com.evil.example/v1/users',
  'https://evil.example/https://api.example.com/v1/',
  'https://api.example.com@evil.example/v1/users',
])('%s is not', (url) => expect(refused(url)).toBe('forbidden'));

test('an empty list allows nothing, and * every one', () => {
  expect(refused('https://api.example.com/v1', [])).toBe('forbidden');
  expect(refused('https://anywhere.example/', ['*'])).toBeUndefined();
  expect(refused('https://user:password@anywhere.example/', ['*'])).toBe('forbidden');
  expect(refused('no url', ['*'])).toBe('invalid_message');
});

test('of two APIs, one below the other, the caller must be allowed to use the one that is called', () => {
  const among = catalogue(shop, stock);
  expect(refused('https://api.example.com/v1/stock/7', ['shop'], { among })).toBe('forbidden');
  expect(refused('https://api.example.com/v1/stock/7', ['stock'], { among })).toBeUndefined();
  expect(refused('https://api.example.com/v1/orders', ['stock'], { among })).toBe('forbidden');
});

test('a credential stays below the base URL of an API even for a caller that may use any API', () => {
  const headers = { authorization: new CredentialUse('shop-key') };
  expect(refused('https://api.example.com/v1/users', ['*'], { headers })).toBeUndefined();
  expect(refused('https://api.example.com/v2/users', ['*'], { headers })).toBe('forbidden');
  expect(refused('https://api.example.com/v1/..%2fadmin', ['*'], { headers })).toBe('forbidden');
  // Without a credential the request is one that anybody could send; and a host without APIs has no base URL to leave.
  expect(refused('https://api.example.com/v2/users', ['*'])).toBeUndefined();
  expect(refused('https://elsewhere.example/users', ['*'], { headers })).toBeUndefined();
});

function catalogue(...list: readonly Api[]) {
  return { version: 1, list: () => list, find: (id: string) => list.find((api) => api.id === id) };
}
