import { expect, test } from 'vitest';
import { checkNamedAgents } from './agents.ts';

test('an agent in mailbox.anonymous that does not exist is found, with the nearest that does', () => {
  const config = { mailbox: { anonymous: ['helpdesk', 'helpdsk'] } };
  expect(checkNamedAgents(config, ['helpdesk', 'payroll'])).toMatchObject([
    {
      check: 'anonymous',
      ok: false,
      message: 'mailbox.anonymous names "helpdsk", which is not defined under agents',
      fix: 'did you mean helpdesk?',
    },
  ]);
});
