import type { ReachableAgent } from '@dragoman/client';

/** Agents to talk to: the server's own targets are asked by their pages. */
export function askable(agents: readonly ReachableAgent[]): readonly ReachableAgent[] {
  return agents.filter(({ id }) => !OWN_TARGETS.has(id));
}

const OWN_TARGETS = new Set(['tools', 'workflows', 'agents']);
