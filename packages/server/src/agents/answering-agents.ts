import type { AgentBody, DriverDefinition } from '@dragoman/core';

/** An agent that answers, with its public description. */
export interface AnsweringAgent extends Partial<DriverDefinition> {
  readonly id: string;
}

/** The agents of a configuration that have a driver, by id. */
export type ConfiguredAgents = Readonly<Record<string, DriverDefinition>>;

/**
 * Every agent with a driver, those of the configuration first. Where the administration has an agent of the same id,
 * that one answers.
 */
export class AnsweringAgents {
  readonly #callers: Callers;
  #configured: ConfiguredAgents;
  #changes = 0;

  constructor(configured: ConfiguredAgents, callers: Callers) {
    this.#configured = configured;
    this.#callers = callers;
  }

  get configured(): ConfiguredAgents {
    return this.#configured;
  }

  /** Replaces the agents of the configuration. */
  configure(configured: ConfiguredAgents): void {
    this.#configured = configured;
    this.#changes += 1;
  }

  /** Increases with every change of an agent, by the configuration or the administration. */
  get version(): number {
    return this.#callers.changes + this.#changes;
  }

  has(id: string): boolean {
    return Object.hasOwn(this.#configured, id) || this.#callers.find(id)?.driver !== undefined;
  }

  list(): readonly AnsweringAgent[] {
    const byId = new Map<string, AnsweringAgent>();
    for (const [id, agent] of Object.entries(this.#configured)) byId.set(id, { ...agent, id });
    for (const { driver, ...agent } of this.#callers.list()) {
      if (driver !== undefined) byId.set(agent.agent_id, { ...agent, driver, id: agent.agent_id });
    }
    return [...byId.values()];
  }
}

interface Callers {
  list(): readonly AgentBody[];
  find(agentId: string): AgentBody | undefined;
  /** Increases with every change. */
  readonly changes: number;
}
