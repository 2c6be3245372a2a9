import type { AgentSocketHub } from '@dragoman/core';
import type { AnsweringAgent } from '../agents/answering-agents.ts';
import type { SocketRoute } from '../http/route.ts';

/** The endpoint where an agent with the `e2a-ws` driver and no URL dials in, to receive envelopes and send frames. */
export function agentSocketRoute(hub: AgentSocketHub, agents: { list(): readonly AnsweringAgent[] }): SocketRoute {
  const isAwaited = (id: string) =>
    agents.list().some((agent) => agent.id === id && agent.driver === 'e2a-ws' && agent.url === undefined);
  return {
    path: '/e2a/agent/ws',
    access: 'agent',
    carriesAnswers: true,
    maxMessageBytes: hub.maxReadBytes,
    summary: 'An agent server dials in with its own key and answers the requests to its id.',
    open: async (connection) => {
      if (connection.principal === undefined) return;
      // The key is the identity: an agent receives only its own requests.
      const { id } = connection.principal;
      // An agent that is not reached this way would wait forever.
      if (isAwaited(id)) await hub.attach(id, connection);
      else
        connection.close(
          POLICY_VIOLATION,
          'this agent receives nothing here: it does not use the e2a-ws driver, or its driver has a url',
        );
    },
  };
}

/** RFC 6455 §7.4.1. */
const POLICY_VIOLATION = 1008;
