import { both, countAll, countCommon, emptyRow, isSet, lowestBit, setBit } from './bit-rows.ts';
import { Spellings } from './spellings.ts';

/** What the index knows of an agent. */
export interface Indexed {
  readonly agentId: string;
  readonly name: string;
  readonly capabilities: readonly string[];
  readonly isHealthy: boolean;
}

export interface IndexQuery {
  /** All of them. */
  readonly capabilities: readonly string[];
  readonly status: 'healthy' | 'unhealthy' | 'all';
  readonly limit: number;
}

/**
 * Finds agents by capability in the order of name, then id. Each capability is a row of bits, one for each agent in that
 * order: a query is a few words of bits for each capability it names, however many agents there are and match. What few agents
 * can do is a list of their places instead, so that names nobody else has take no room. All is made anew after a change, by the
 * first who asks.
 */
export class CapabilityIndex<Agent extends Indexed> {
  readonly #agents = new Map<string, Agent>();
  readonly #spellings = new Spellings();
  readonly #rows = new Map<string, Uint32Array>();
  readonly #few = new Map<string, readonly number[]>();
  readonly #healthyRows = new Map<string, Uint32Array>();
  /** How many bits two rows have in common: to count them takes longer than to find the first. */
  #totals = new WeakMap<Uint32Array, WeakMap<Uint32Array, number>>();
  readonly #places = new Map<string, number>();
  #ordered: string[] = [];
  #healthy = new Uint32Array(0);
  #unhealthy = new Uint32Array(0);
  #everybody = new Uint32Array(0);
  #isMade = true;

  get size(): number {
    return this.#agents.size;
  }

  get(agentId: string): Agent | undefined {
    return this.#agents.get(agentId);
  }

  /** The id of an agent that differs from this one in the case of its letters alone. */
  alike(agentId: string): string | undefined {
    return this.#spellings.alike(agentId);
  }

  put(agent: Agent): void {
    const before = this.#agents.get(agent.agentId);
    if (before === undefined) this.#spellings.add(agent.agentId);
    this.#agents.set(agent.agentId, agent);
    const place = this.#places.get(agent.agentId);
    const isSame = before?.name === agent.name && areSame(before.capabilities, agent.capabilities);
    if (!this.#isMade || place === undefined || !isSame) this.#isMade = false;
    else this.#setHealth(place, agent.isHealthy);
  }

  delete(agentId: string): boolean {
    const wasThere = this.#agents.delete(agentId);
    if (wasThere) {
      this.#spellings.delete(agentId);
      this.#isMade = false;
    }
    return wasThere;
  }

  find({ capabilities, status, limit }: IndexQuery): { agents: Agent[]; total: number } {
    if (!this.#isMade) this.#make();
    const names = new Set(capabilities);
    let one: Uint32Array | undefined;
    let other: Uint32Array | undefined;
    for (const name of names) {
      const row = this.#rows.get(name) ?? this.#rowOfFew(name);
      if (row === undefined) return { agents: [], total: 0 };
      if (one === undefined) one = status === 'healthy' ? this.#healthyOf(name, row) : row;
      else other = other === undefined ? row : both(other, row);
    }
    one ??= status === 'healthy' ? this.#healthy : this.#everybody;
    other ??= this.#everybody;
    if (status === 'unhealthy') one = both(one, this.#unhealthy);
    return { agents: this.#first(limit, one, other), total: this.#total(one, other) };
  }

  #total(one: Uint32Array, other: Uint32Array): number {
    let totals = this.#totals.get(one);
    if (totals === undefined) {
      totals = new WeakMap();
      this.#totals.set(one, totals);
    }
    let total = totals.get(other);
    if (total === undefined) {
      total = countCommon(one, other);
      totals.set(other, total);
    }
    return total;
  }

  /** The healthy ones of a row. Nearly everybody asks for them, so they are kept until somebody's health changes. */
  #healthyOf(capability: string, row: Uint32Array): Uint32Array {
    const known = this.#healthyRows.get(capability);
    if (known !== undefined) return known;
    const made = both(row, this.#healthy);
    if (this.#rows.has(capability)) this.#healthyRows.set(capability, made);
    return made;
  }

  #first(limit: number, one: Uint32Array, other: Uint32Array): Agent[] {
    const agents: Agent[] = [];
    for (let word = 0; word < one.length && agents.length < limit; word++) {
      let bits = (one[word] as number) & (other[word] as number);
      for (; bits !== 0 && agents.length < limit; bits &= bits - 1) {
        const agent = this.#agents.get(this.#ordered[word * 32 + lowestBit(bits)] ?? '');
        if (agent !== undefined) agents.push(agent);
      }
    }
    return agents;
  }

  /** How many agents have each capability. */
  counts(): Map<string, number> {
    if (!this.#isMade) this.#make();
    const many = [...this.#rows].map(([name, row]): [string, number] => [name, countAll(row)]);
    return new Map([...many, ...[...this.#few].map(([name, places]): [string, number] => [name, places.length])]);
  }

  #setHealth(place: number, isHealthy: boolean): void {
    if (isSet(this.#healthy, place) !== isHealthy) {
      this.#healthyRows.clear();
      this.#totals = new WeakMap();
    }
    setBit(this.#healthy, place, isHealthy);
    setBit(this.#unhealthy, place, !isHealthy);
  }

  #rowOfFew(capability: string): Uint32Array | undefined {
    const places = this.#few.get(capability);
    if (places === undefined) return undefined;
    const row = emptyRow(this.#ordered.length);
    for (const place of places) setBit(row, place, true);
    return row;
  }

  #make(): void {
    const agents = [...this.#agents.values()].sort((a, b) => compare(a.name, b.name) || compare(a.agentId, b.agentId));
    this.#ordered = agents.map(({ agentId }) => agentId);
    this.#healthy = emptyRow(agents.length);
    this.#unhealthy = emptyRow(agents.length);
    this.#everybody = emptyRow(agents.length);
    this.#places.clear();
    const places = new Map<string, number[]>();
    for (const [place, { agentId, capabilities, isHealthy }] of agents.entries()) {
      this.#places.set(agentId, place);
      this.#setHealth(place, isHealthy);
      setBit(this.#everybody, place, true);
      for (const capability of new Set(capabilities)) {
        const known = places.get(capability);
        if (known === undefined) places.set(capability, [place]);
        else known.push(place);
      }
    }
    this.#rows.clear();
    this.#healthyRows.clear();
    this.#totals = new WeakMap();
    this.#few.clear();
    for (const [capability, those] of places) {
      this.#few.set(capability, those);
      const row = those.length > Math.max(FEW, this.#everybody.length) ? this.#rowOfFew(capability) : undefined;
      if (row === undefined) continue;
      this.#rows.set(capability, row);
      this.#few.delete(capability);
    }
    this.#isMade = true;
  }
}

function areSame(one: readonly string[], other: readonly string[]): boolean {
  return one === other || (one.length === other.length && one.every((name, at) => name === other[at]));
}

/** By code unit: the same order on every machine. */
function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** A list of places is kept where it is shorter than its row, or as short as this: a row is quickly made of it. */
const FEW = 32;
