import type { Static } from '@dragoman/protocols';
import { AgentCard } from '@dragoman/protocols/a2a-messages';

/** The body of `POST /agents/register`. */
export const Registration = {
  type: 'object',
  required: ['agent_card', 'endpoint'],
  properties: {
    agent_card: AgentCard,
    endpoint: {
      type: 'string',
      description:
        'Where the agent listens: an http or https URL; or "connection:", to receive requests over the WebSocket or TCP connection that you open.',
    },
  },
  additionalProperties: false,
} as const;
export type Registration = Static<typeof Registration>;
