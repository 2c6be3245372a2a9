import type { AgentDefinition, DriverDefinition } from '@dragoman/core';
import type { Config } from './config-schema.ts';

/** An agent that answers, with what is told of it. */
export interface AnsweringAgent extends Partial<DriverDefinition> {
  readonly id: string;
}

/** Every agent with a driver, those of the configuration first. Where the administration has one of the same name, that answers. */
export function answeringAgents(
  { agents = {} }: Pick<Config, 'agents'>,
  { callers }: { readonly callers: { list(): readonly AgentDefinition[] } },
): readonly AnsweringAgent[] {
  const byId = new Map<string, AnsweringAgent>();
  for (const [id, agent] of Object.entries(agents)) byId.set(id, { ...agent, id });
  for (const { driver, ...agent } of callers.list()) {
    if (driver !== undefined) byId.set(agent.agent_id, { ...agent, driver, id: agent.agent_id });
  }
  return [...byId.values()];
}
