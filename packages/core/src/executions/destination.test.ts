import { expect, test } from 'vitest';
import type { Api } from '../apis/api.ts';
import { KnownUrls } from '../gate/known-urls.ts';
import { refuseDestination } from './destination.ts';

const shop: Api = { id: 'shop', base_url: 'https://api.example.com/v1', description: null, endpoints: [] };
const apis = { version: 1, list: () => [shop], find: (id: string) => (id === 'shop' ? shop : undefined) };
const refused = (url: string, permitted: readonly string[] = ['shop']) =>
  refuseDestination(new KnownUrls().read(url), { apis: permitted }, apis)?.code;

test.each(['https://api.example.com/v1', 'https://api.example.com/v1/', 'https://API.example.com/v1/users?a=..%2f'])(
  '%s is inside',
  (url) => expect(refused(url)).toBeUndefined(),
);

test.each([
  'https://api.example.com/',
  'https://api.example.com/v10/users',
  'https://api.example.com/v1/../admin',
  'https://api.example.com/v1/%2e%2e/admin',
  'https://api.example.com/v1/..%2fadmin',
  'https://api.example.com/v1/%2e%2e%5cadmin',
  'http://api.example.com/v1/users',
  'https://api.example.com:8443/v1/users',
  'https://api.example.com.evil.example/v1/users',
  'https://evil.example/https://api.example.com/v1/',
  'https://api.example.com@evil.example/v1/users',
])('%s is not', (url) => expect(refused(url)).toBe('forbidden'));

test('an empty list allows nothing, and * what there is', () => {
  expect(refused('https://api.example.com/v1', [])).toBe('forbidden');
  expect(refused('https://anywhere.example/', ['*'])).toBeUndefined();
  expect(refused('https://user:password@anywhere.example/', ['*'])).toBe('forbidden');
  expect(refused('no url', ['*'])).toBe('invalid_message');
});
