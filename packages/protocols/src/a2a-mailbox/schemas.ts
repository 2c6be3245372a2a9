import { SCHEMA_BASE, type SchemaSet } from '../schema.ts';
import { AgentRegistration, MailboxCard } from './card.ts';
import { MailboxError, MailboxInput, MailboxMessage, MailboxResponse } from './message.ts';

const base = `${SCHEMA_BASE}/a2a-mailbox`;

const schemas: SchemaSet = {
  dialect: 'a2a-mailbox',
  schemas: {
    Input: { $id: `${base}/input.json`, title: 'A2A mailbox message, as a sender may write it', ...MailboxInput },
    Message: { $id: `${base}/message.json`, title: 'A2A mailbox message, every field written out', ...MailboxMessage },
    Response: { $id: `${base}/response.json`, title: 'A2A mailbox response or callback', ...MailboxResponse },
    ErrorBody: { $id: `${base}/error.json`, title: 'A2A mailbox error body', ...MailboxError },
    AgentCard: { $id: `${base}/agent-card.json`, title: 'A2A mailbox agent card', ...MailboxCard },
    AgentRegistration: {
      $id: `${base}/agent-registration.json`,
      title: 'ERC-8004 agent registration',
      ...AgentRegistration,
    },
  },
};

export default schemas;
