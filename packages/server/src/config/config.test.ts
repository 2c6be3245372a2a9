import { expect, test } from 'vitest';
import { parseConfig } from './config.ts';

test.each(['[]', '[echo, clock]', 'false'])('mailbox.anonymous may be %s', (anonymous) => {
  expect(parseConfig(`mailbox: { anonymous: ${anonymous} }`)).toMatchObject({ ok: true });
});

test.each([
  ['[1]', 'the configuration must be a mapping'],
  ['store: mysql', 'store must be sqlite, memory or a postgres:// URL; got "mysql"'],
])('%s is refused in the words of a configuration file', (text, message) => {
  expect(parseConfig(text)).toMatchObject({ ok: false, issues: [{ message: expect.stringContaining(message) }] });
});

test.each([
  ['true', 'true'],
  ['["*"]', '"*"'],
  ['[echo, "*"]', '"*"'],
])('mailbox.anonymous may not open every agent: %s', (anonymous, got) => {
  expect(parseConfig(`mailbox:\n  anonymous: ${anonymous}`)).toMatchObject({
    ok: false,
    issues: [
      {
        pointer: '/mailbox/anonymous',
        message: expect.stringContaining(`mailbox.anonymous must list each agent by its id; got ${got}`),
        suggestion: 'list the agents that senders without a key may use, such as anonymous: [echo]',
      },
    ],
  });
});

test.each([
  ['cluster: { name: one }'],
  ['store: postgres://u@h/d\ncluster: { ttl_ms: 4000 }'],
  ['cluster: { ttl_ms: 40000, grace_ms: 20000, beat_ms: 10000 }'],
])('%j is a configuration of a node, whose store may be named by DRAGOMAN_STORE', (text) => {
  expect(parseConfig(text)).toMatchObject({ ok: true });
});

test.each([
  ['store: sqlite\ncluster: { name: one }', 'cluster needs a store in PostgreSQL; store is "sqlite"', 'write store: '],
  [
    'cluster: { ttl_ms: 3000 }',
    'at most a quarter of ttl_ms (3000) and half of grace_ms (2000); it is 1000',
    'ms: 750',
  ],
  ['cluster: { beat_ms: 1500 }', 'at most a quarter of ttl_ms (10000) and half of grace_ms (2000)', 'beat_ms: 1000'],
])('%j is refused, with the reason and a fix', (text, message, suggestion) => {
  const issues = [{ message: expect.stringContaining(message), suggestion: expect.stringContaining(suggestion) }];
  expect(parseConfig(text)).toMatchObject({ ok: false, issues });
});
