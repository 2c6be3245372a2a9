import type { ReachableAgent } from '@dragoman/client';

/** The agents for the chat, without the server's own targets, which have pages of their own. */
export function askable(agents: readonly ReachableAgent[]): readonly ReachableAgent[] {
  return agents.filter(({ id }) => !OWN_TARGETS.has(id));
}

const OWN_TARGETS = new Set(['tools', 'workflows', 'agents']);
