import { expect, test } from 'vitest';
import { parseConfig } from './config.ts';

test.each(['[]', '[echo, clock]', 'false'])('mailbox.anonymous may be %s', (anonymous) => {
  expect(parseConfig(`mailbox: { anonymous: ${anonymous} }`)).toMatchObject({ ok: true });
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
        suggestion: 'write the agents that senders without a key may write to, such as anonymous: [echo]',
      },
    ],
  });
});
