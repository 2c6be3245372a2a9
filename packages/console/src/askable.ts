import type { ReachableAgent } from '@dragoman/client';

/** Agents for the chat: the server's own targets have pages of their own. */
export function askable(agents: readonly ReachableAgent[]): readonly ReachableAgent[] {
  return agents.filter(({ id }) => !OWN_TARGETS.has(id));
}

const OWN_TARGETS = new Set(['tools', 'workflows', 'agents']);
