import { isMailboxMessage, type MailboxMessage, mailboxDialect } from '@dragoman/protocols/a2a-mailbox';
import { describe, expect, test } from 'vitest';
import { NO_PERMISSIONS, type Principal } from '../call/principal.ts';
import { Directory } from './directory.ts';

const REGISTRY = 'eip155:8453:0x8004A169FB4a3325136EB29fA0ceB6D2e539a432';
const OURS = `${REGISTRY}:1`;
const THEIRS = `${REGISTRY}:2`;
const ANN: Principal = { id: 'ann', kind: 'agent', permissions: { ...NO_PERMISSIONS, agents: ['tee', 'sums'] } };

describe('a message is for', () => {
  const directory = new Directory({
    identity: { name: 'Desk', agentId: OURS },
    addressees: () => [
      { id: 'closed', skills: ['add'] },
      { id: 'sums', skills: ['add'] },
      { id: 'tee', name: 'Mr. Tee', agentId: THEIRS },
    ],
  });

  test.each<[string, object, string | undefined, string]>([
    ['an agent by its id', { to: 'tee' }, 'tee', 'Mr. Tee'],
    ['an agent by its name', { to: 'Mr. Tee' }, 'tee', 'Mr. Tee'],
    ['an agent by its agentId, whatever the name', { to: { name: 'Desk', agentId: THEIRS } }, 'tee', 'Mr. Tee'],
    ['the default agent, when the message names no recipient', {}, undefined, 'Desk'],
    ['the default agent, where the mailbox is named', { to: 'Desk' }, undefined, 'Desk'],
    ['the default agent, by the agentId of the mailbox', { to: { agentId: OURS.toLowerCase() } }, undefined, 'Desk'],
    ['an agent that has the skill and is permitted', { metadata: { taskType: 'add' } }, 'sums', 'Desk'],
    ['no other agent when the recipient is unknown', { to: 'Tee' }, 'Tee', 'Tee'],
    [
      'no other agent when the agentId is unknown',
      { to: { name: 'tee', agentId: `${REGISTRY}:3` } },
      `${REGISTRY}:3`,
      'tee',
    ],
  ])('%s', (_, fields, target, name) => {
    expect(directory.find(message(fields), ANN)).toMatchObject({ target, from: { name } });
  });
});

describe('an agent that has the mailbox’s own', () => {
  test.each<[string, object, object]>([
    ['name', { name: 'Desk' }, { to: 'Desk' }],
    ['agentId', { agentId: OURS }, { to: { agentId: OURS.toLowerCase() } }],
    ['agentId, beside its name', { agentId: OURS }, { to: { name: 'Desk', agentId: OURS } }],
  ])('a message goes to %s', (_, own, fields) => {
    const directory = new Directory({
      identity: { name: 'Desk', agentId: OURS },
      addressees: () => [{ id: 'other' }, { id: 'tee', ...own }],
    });
    expect(directory.find(message(fields), ANN).target).toBe('tee');
    expect(directory.find(message({}), ANN).target).toBeUndefined();
  });
});

function message(fields: object): MailboxMessage {
  const decoded = mailboxDialect.decode({ from: 'Ann', message: 'hi', ...fields }, new Date(0));
  if (!decoded.ok || !isMailboxMessage(decoded.value)) throw new Error('not a message');
  return decoded.value;
}
