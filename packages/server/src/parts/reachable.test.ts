import { failure } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import { SilentLog } from '../../../core/test-support/silent-log.ts';
import type { Access, Route } from '../http/route.ts';
import { isLoopback, logReachable } from './reachable.ts';

test('the log names every endpoint and agent that is reachable without a key, in the text and as fields', () => {
  const log = new SilentLog();
  const route = (path: string, access: Access, fields: Partial<Route> = {}): Route => {
    return { method: 'GET', path, access, counts: false, summary: '', handle: () => ({ status: 200 }), ...fields };
  };
  const routes = [
    route('/health', 'public'),
    route('/agent', 'open'),
    route('/closed', 'open', { refuseAnonymous: failure('unauthenticated') }),
    route('/signed', 'open', { isSigned: true }),
    route('/e2a', 'agent'),
    route('/admin/v1/keys', 'admin'),
  ];
  logReachable(routes, { log, host: '0.0.0.0', agents: ['echo'] });
  expect(log.lines).toEqual([
    {
      level: 'warn',
      fields: { endpoints: ['GET /health', 'GET /agent'], agents: ['echo'] },
      message:
        'Listening on 0.0.0.0, not only on this machine. Reachable without a key: agents: echo; endpoints: GET /health, GET /agent',
    },
  ]);
});

test.each([
  ['127.0.0.1', true],
  ['127.8.8.8', true],
  ['::1', true],
  ['localhost', true],
  ['0.0.0.0', false],
  ['::', false],
  ['127.evil.example', false],
  ['192.0.2.7', false],
])('%s is this machine alone: %s', (host, expected) => {
  expect(isLoopback(host)).toBe(expected);
});
