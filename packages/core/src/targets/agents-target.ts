import { failure, type Json, type JsonObject, nearest } from '@dragoman/protocols';
import type { Agent } from '../agents/agent.ts';
import { allows, type Principal } from '../call/principal.ts';
import { refuse } from '../refusals/refused.ts';

/** The description of an agent. */
export interface DescribedAgent {
  readonly id: string;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly skills?: readonly string[] | undefined;
  /** Whether clients may name MCP servers for the agent's sessions. */
  readonly takesMcpServers?: boolean | undefined;
}

/** The directory of agents as a target. `permissions.agents` decides which agents a caller sees. */
export function agentsTarget(agents: () => readonly DescribedAgent[]): Agent {
  return {
    id: 'agents',
    async *answer({ method, params }, { principal }) {
      const answer = Object.hasOwn(METHODS, method ?? '') ? METHODS[method ?? ''] : undefined;
      if (answer === undefined) refuse('unknown_method', { suggestions: [`use ${Object.keys(METHODS).join(' or ')}`] });
      yield { part: 'complete', result: answer(reachable(agents(), principal), params) };
    },
    refusal: (_, principal) => (principal.kind === 'anonymous' ? failure('forbidden') : undefined),
    async [Symbol.asyncDispose]() {},
  };
}

const METHODS: Readonly<Record<string, (agents: readonly DescribedAgent[], params: JsonObject) => Json>> = {
  'agents.list': (agents) => ({ agents: agents.map(described) }),
  'agents.describe': (agents, { id }) => {
    const found = agents.find((agent) => agent.id === id);
    if (found !== undefined) return described(found);
    const close =
      typeof id === 'string'
        ? nearest(
            id,
            agents.map((agent) => agent.id),
          )
        : undefined;
    const suggestions = close === undefined ? [] : [`did you mean ${close}?`];
    refuse('not_found', { suggestions }, `Unknown agent ${JSON.stringify(id ?? null)}.`);
  },
};

function reachable(agents: readonly DescribedAgent[], { permissions }: Principal): readonly DescribedAgent[] {
  return agents.filter(({ id }) => allows(permissions.agents, id));
}

function described(agent: DescribedAgent): JsonObject {
  const { id, name = id, description = '', skills = [], takesMcpServers = false } = agent;
  return { id, name, description, skills: [...skills], ...(takesMcpServers && { takes_mcp_servers: true }) };
}
