import { expect, test } from 'vitest';
import { decodeEndpoint } from './endpoint.ts';

test.each([
  ['https://agent.example.com/a2a', 'https://agent.example.com/a2a'],
  ['agent.example.com:8888', 'tcp://agent.example.com:8888'],
  ['localhost:8888', 'tcp://localhost:8888'],
  ['wss://agent.example.com/ws', 'wss://agent.example.com/ws'],
])('%s is %s', (text, uri) => {
  expect(decodeEndpoint(text)).toMatchObject({ ok: true, value: uri });
});

test.each([
  '',
  'agent',
  'javascript:alert(1)',
  'file:///etc/passwd',
  'https://user:word@agent.example.com',
  `https://a/${'x'.repeat(2000)}`,
])('%s is no endpoint', (text) => {
  expect(decodeEndpoint(text)).toMatchObject({ ok: false, issues: [{ pointer: '/endpoint' }] });
});
