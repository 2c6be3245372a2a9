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
