import type { AgentList } from '@dragoman/client';
import { nearest } from '@dragoman/protocols';

/** A warning for each unknown agent in a permission. The permission is kept, because the agent may be added later. */
export function unknownAgentWarnings(names: readonly string[], { agents, targets }: AgentList): string[] {
  const known = [...targets, ...agents.map(({ agent_id }) => agent_id)];
  return names.flatMap((name) => {
    if (name === '*' || known.includes(name)) return [];
    const close = nearest(name, known);
    const hint = close === undefined ? '' : `; did you mean ${close}?`;
    return [`warning: there is no agent ${JSON.stringify(name)} yet${hint}\n`];
  });
}
