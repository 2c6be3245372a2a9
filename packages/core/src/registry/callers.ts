import { accept, type Issue, issuesOf, type Json, type Outcome, reject } from '@dragoman/protocols';
import { AgentDefinition as validate } from '../generated/registry.js';
import type { Clock } from '../ports.ts';
import { ALL_PERMISSIONS, NO_PERMISSIONS, type Principal } from '../principal.ts';
import type { AgentStore, KeyRow } from '../store/store.ts';
import { AgentDefinition } from './definition.ts';

/** The agents administration has made: who they are and what they may do. */
export class Callers {
  readonly #store: AgentStore;
  readonly #clock: Clock;
  readonly #agents = new Map<string, AgentDefinition>();

  constructor({ store, clock }: { store: AgentStore; clock: Clock }) {
    this.#store = store;
    this.#clock = clock;
  }

  async load(): Promise<void> {
    for (const row of await this.#store.list()) {
      this.#agents.set(row.agentId, JSON.parse(row.definition) as AgentDefinition);
    }
  }

  async put(definition: AgentDefinition): Promise<void> {
    const agentId = definition.agent_id;
    await this.#store.put({ agentId, definition: JSON.stringify(definition), createdAt: this.#clock.now().getTime() });
    this.#agents.set(agentId, definition);
  }

  find(agentId: string): AgentDefinition | undefined {
    return this.#agents.get(agentId);
  }

  list(): AgentDefinition[] {
    return [...this.#agents.values()];
  }

  async remove(agentId: string): Promise<boolean> {
    this.#agents.delete(agentId);
    return this.#store.remove(agentId);
  }

  /** Who a key proves its bearer to be; `undefined` when its agent is gone. */
  principalOf(key: KeyRow): Principal | undefined {
    if (key.role === 'admin') return { id: 'admin', role: 'admin', permissions: ALL_PERMISSIONS, keyId: key.keyId };
    const agent = this.#agents.get(key.agentId);
    if (agent === undefined) return undefined;
    return {
      id: agent.agent_id,
      role: 'agent',
      permissions: { ...NO_PERMISSIONS, ...agent.permissions },
      keyId: key.keyId,
      ...(agent.limits !== undefined && { limits: agent.limits }),
    };
  }
}

/** An agent as administration sends it, or every problem. */
export function decodeAgentDefinition(json: Json): Outcome<AgentDefinition> {
  const issues: Issue[] = [...issuesOf(validate, AgentDefinition, json)];
  if (issues.length > 0) return reject(...issues);
  const definition = json as AgentDefinition;
  if (RESERVED.has(definition.agent_id.toLowerCase())) {
    const message = `agent_id must not be ${definition.agent_id}: the name is reserved`;
    return reject({ pointer: '/agent_id', code: 'reserved', message, suggestion: 'choose another name' });
  }
  return accept(definition);
}

/** Names that mean something else where an agent's name could stand. */
const RESERVED: ReadonlySet<string> = new Set(['registry', 'admin']);
