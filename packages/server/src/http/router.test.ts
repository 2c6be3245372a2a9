import { describe, expect, test } from 'vitest';
import { createRouter } from './router.ts';

const router = createRouter([
  { method: 'GET', path: '/a' },
  { method: 'POST', path: '/a' },
  { method: 'GET', path: '/a/:id' },
  { method: 'DELETE', path: '/a/:id/b/:other' },
  { method: 'GET', path: '/a/own' },
  { method: 'GET', path: '/a/:id/b/:other' },
  { method: 'GET', path: '/files/*' },
]);

describe('finding', () => {
  test.each([
    ['GET', '/a', '/a', {}, ''],
    ['HEAD', '/a', '/a', {}, ''],
    ['GET', '/a?x=1?2', '/a', {}, 'x=1?2'],
    ['GET', '/a?', '/a', {}, ''],
    ['GET', '/a/7', '/a/:id', { id: '7' }, ''],
    ['GET', '/a/eip155:8453:0xAb:12', '/a/:id', { id: 'eip155:8453:0xAb:12' }, ''],
    ['GET', '/a/x%2Fy%20z?q=%2F', '/a/:id', { id: 'x/y z' }, 'q=%2F'],
    ['DELETE', '/a/1/b/2', '/a/:id/b/:other', { id: '1', other: '2' }, ''],
    ['GET', '/a/own', '/a/own', {}, ''],
    ['GET', '/a/own/b/2', '/a/:id/b/:other', { id: 'own', other: '2' }, ''],
    ['GET', '/%61/%6Fwn', '/a/own', {}, ''],
    ['GET', '/files/', '/files/*', { '*': '' }, ''],
    ['GET', '/files/x/y.js', '/files/*', { '*': 'x/y.js' }, ''],
  ])('%s %s', (method, target, path, params, query) => {
    const match = router.find(method, target);
    expect(match?.entry.path).toBe(path);
    expect({ ...match?.params }).toEqual(params);
    expect(match?.query).toBe(query);
  });

  test.each([
    '/',
    '/A',
    '/a/',
    '//a',
    '/a//',
    '/a/%',
    '/a/1/b',
    `/a/${'x'.repeat(1001)}`,
    '/__proto__',
    'a',
    '/a%2F7',
    'ftp://x/a',
    'http://x',
  ])('nothing at %s', (target) => {
    expect(router.find('GET', target)).toBeUndefined();
    expect(router.allowed(target)).toEqual([]);
  });
});

test('the longest id of a mailbox is found', () => {
  const id = '😀'.repeat(500);
  expect(router.find('GET', `/a/${encodeURIComponent(id)}`)?.params['id']).toBe(id);
});

test('a target has a list of its methods', () => {
  expect(router.allowed('/a?x')).toEqual(['GET', 'HEAD', 'POST']);
  expect(router.allowed('/a/1')).toEqual(['GET', 'HEAD']);
  expect(router.find('CONSTRUCTOR', '/a')).toBeUndefined();
});

test('a table with the same route twice is refused', () => {
  const twice = { method: 'GET', path: '/a' } as const;
  expect(() => createRouter([twice, twice])).toThrow();
});
