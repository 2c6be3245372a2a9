import { expect, test } from 'vitest';
import { decodeEndpoint } from './endpoint.ts';

test.each([
  ['https://agent.example.com/a2a', 'https://agent.example.com/a2a'],
  ['http://agent.example.com:8888', 'http://agent.example.com:8888/'],
])('%s is %s', (text, uri) => {
  expect(decodeEndpoint(text)).toMatchObject({ ok: true, value: uri });
});

test.each([
  '',
  'agent',
  'agent.example.com:8888',
  'tcp://agent.example.com:8888',
  'wss://agent.example.com/ws',
  'javascript:alert(1)',
  'file:///etc/passwd',
  'https://user:word@agent.example.com',
  `https://a/${'x'.repeat(2000)}`,
])('%s is no endpoint', (text) => {
  expect(decodeEndpoint(text)).toMatchObject({ ok: false, issues: [{ pointer: '/endpoint' }] });
});
