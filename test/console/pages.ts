/** Every page, by its address, with the heading that shows that it is there. */
export const PAGES: readonly (readonly [path: string, heading: string])[] = [
  ['/', 'Overview'],
  ['/console/requests', 'Requests'],
  ['/console/chat', 'Chat'],
  ['/console/workflows', 'Workflows'],
  ['/console/workflows/executions', 'Workflows'],
  ['/console/tools', 'Tools'],
  ['/console/agents', 'Agents'],
  ['/console/questions', 'Questions'],
  ['/console/mailbox', 'Mailbox'],
  ['/console/outbox', 'Outbox'],
  ['/console/nodes', 'Nodes'],
  ['/console/keys', 'Keys'],
  ['/console/connect', 'Connect'],
];
