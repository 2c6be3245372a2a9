import type { AgentSocketHub } from '@dragoman/core';
import type { SocketRoute } from '../route.ts';

/** Where an agent with the `e2a-ws` driver and no URL dials in: envelopes go out to it, its frames come back. */
export function agentSocketRoute(hub: AgentSocketHub): SocketRoute {
  return {
    path: '/e2a/agent/ws',
    access: 'agent',
    carriesAnswers: true,
    summary: 'An agent server dials in with its own key and answers what is sent to its id.',
    open: async (connection) => {
      // The key is the identity: an agent answers for nobody but itself.
      if (connection.principal !== undefined) await hub.attach(connection.principal.id, connection);
    },
  };
}
