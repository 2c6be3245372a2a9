import { Spellings } from './spellings.ts';

/** The members of an agent that are indexed. */
export interface Indexed {
  readonly agentId: string;
  readonly name: string;
  readonly capabilities: readonly string[];
  readonly isHealthy: boolean;
}

export interface IndexQuery {
  /** An agent must have all of these. */
  readonly capabilities: readonly string[];
  readonly status: 'healthy' | 'unhealthy' | 'all';
  readonly limit: number;
}

/**
 * Finds agents by capability, sorted by name, then id. Each capability has a set of agent ids in that order. The first query after
 * an agent was added, removed or changed fills the sets again; a change of health does not.
 */
export class CapabilityIndex<Agent extends Indexed> {
  readonly #agents = new Map<string, Agent>();
  readonly #spellings = new Spellings();
  #all: ReadonlySet<string> = new Set();
  #byCapability: ReadonlyMap<string, ReadonlySet<string>> = new Map();
  #isFilled = true;

  get size(): number {
    return this.#agents.size;
  }

  get(agentId: string): Agent | undefined {
    return this.#agents.get(agentId);
  }

  /** The id of another agent that differs from this one only in upper and lower case. */
  alike(agentId: string): string | undefined {
    return this.#spellings.alike(agentId);
  }

  put(agent: Agent): void {
    const before = this.#agents.get(agent.agentId);
    if (before === undefined) this.#spellings.add(agent.agentId);
    this.#agents.set(agent.agentId, agent);
    if (before?.name !== agent.name || !areSame(before.capabilities, agent.capabilities)) this.#isFilled = false;
  }

  delete(agentId: string): boolean {
    const wasThere = this.#agents.delete(agentId);
    if (wasThere) {
      this.#spellings.delete(agentId);
      this.#isFilled = false;
    }
    return wasThere;
  }

  /** The first `limit` agents that match, and how many match in all. */
  find({ capabilities, status, limit }: IndexQuery): { agents: Agent[]; total: number } {
    this.#fill();
    const names = [...new Set(capabilities)];
    const sets = names.map((name) => this.#byCapability.get(name) ?? EMPTY).sort((a, b) => a.size - b.size);
    const [smallest = this.#all, ...others] = sets;
    const agents: Agent[] = [];
    let total = 0;
    for (const agentId of smallest) {
      const agent = this.#agents.get(agentId);
      if (agent === undefined || (status !== 'all' && agent.isHealthy !== (status === 'healthy'))) continue;
      if (!others.every((set) => set.has(agentId))) continue;
      total += 1;
      if (agents.length < limit) agents.push(agent);
    }
    return { agents, total };
  }

  /** How many agents have each capability. */
  counts(): Map<string, number> {
    this.#fill();
    return new Map([...this.#byCapability].map(([name, { size }]) => [name, size]));
  }

  #fill(): void {
    if (this.#isFilled) return;
    const ordered = [...this.#agents.values()].sort((a, b) => compare(a.name, b.name) || compare(a.agentId, b.agentId));
    const byCapability = new Map<string, Set<string>>();
    for (const { agentId, capabilities } of ordered) {
      for (const capability of capabilities) {
        const known = byCapability.get(capability);
        if (known === undefined) byCapability.set(capability, new Set([agentId]));
        else known.add(agentId);
      }
    }
    this.#all = new Set(ordered.map(({ agentId }) => agentId));
    this.#byCapability = byCapability;
    this.#isFilled = true;
  }
}

function areSame(one: readonly string[], other: readonly string[]): boolean {
  return one === other || (one.length === other.length && one.every((name, at) => name === other[at]));
}

/** Compares by code unit, so that the order is the same on every machine. */
function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

const EMPTY: ReadonlySet<string> = new Set();
