import type { AgentBody, DriverDefinition } from '@dragoman/core';

/** An agent that answers, with its public description. */
export interface AnsweringAgent extends Partial<DriverDefinition> {
  readonly id: string;
}

/** Agents with a driver, by id, as a configuration has them. */
export type ConfiguredAgents = Readonly<Record<string, DriverDefinition>>;

/** Every agent with a driver, those of the configuration first. Where the administration has one of the same name, that answers. */
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

  /** Puts these in place of those the configuration had. */
  configure(configured: ConfiguredAgents): void {
    this.#configured = configured;
    this.#changes += 1;
  }

  /** Grows with every change. */
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
  /** Grows with every change. */
  readonly changes: number;
}
