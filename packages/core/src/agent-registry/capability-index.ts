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
  readonly #rows = new Map<string, Uint32Array>();
  readonly #few = new Map<string, readonly number[]>();
  readonly #places = new Map<string, number>();
  #ordered: string[] = [];
  #healthy = new Uint32Array(0);
  #everybody = new Uint32Array(0);
  #isMade = true;

  get size(): number {
    return this.#agents.size;
  }

  get(agentId: string): Agent | undefined {
    return this.#agents.get(agentId);
  }

  values(): Iterable<Agent> {
    return this.#agents.values();
  }

  put(agent: Agent): void {
    const before = this.#agents.get(agent.agentId);
    this.#agents.set(agent.agentId, agent);
    const place = this.#places.get(agent.agentId);
    const isSame = before?.name === agent.name && areSame(before.capabilities, agent.capabilities);
    if (!this.#isMade || place === undefined || !isSame) this.#isMade = false;
    else setBit(this.#healthy, place, agent.isHealthy);
  }

  delete(agentId: string): boolean {
    const wasThere = this.#agents.delete(agentId);
    if (wasThere) this.#isMade = false;
    return wasThere;
  }

  find({ capabilities, status, limit }: IndexQuery): { agents: Agent[]; total: number } {
    if (!this.#isMade) this.#make();
    const rows: Uint32Array[] = [];
    for (const capability of new Set(capabilities)) {
      const row = this.#rows.get(capability) ?? this.#rowOfFew(capability);
      if (row === undefined) return { agents: [], total: 0 };
      rows.push(row);
    }
    // Plain loops over whole rows: this is where the time goes that grows with the number of agents.
    const healthy = this.#healthy;
    const wanted = status === 'healthy' ? healthy : this.#everybody;
    const [first = wanted, ...others] = rows;
    const agents: Agent[] = [];
    let total = 0;
    for (let word = 0; word < wanted.length; word++) {
      let bits = (wanted[word] as number) & (first[word] as number);
      if (status === 'unhealthy') bits &= ~(healthy[word] as number);
      for (let at = 0; at < others.length && bits !== 0; at++) bits &= others[at]?.[word] as number;
      if (bits === 0) continue;
      total += countBits(bits);
      for (; bits !== 0 && agents.length < limit; bits &= bits - 1) {
        const agent = this.#agents.get(this.#ordered[word * 32 + lowestBit(bits)] ?? '');
        if (agent !== undefined) agents.push(agent);
      }
    }
    return { agents, total };
  }

  /** How many agents have each capability. */
  counts(): Map<string, number> {
    if (!this.#isMade) this.#make();
    const many = [...this.#rows].map(([name, row]): [string, number] => [name, countAll(row)]);
    return new Map([...many, ...[...this.#few].map(([name, places]): [string, number] => [name, places.length])]);
  }

  #rowOfFew(capability: string): Uint32Array | undefined {
    const places = this.#few.get(capability);
    if (places === undefined) return undefined;
    const row = new Uint32Array(this.#everybody.length);
    for (const place of places) setBit(row, place, true);
    return row;
  }

  #make(): void {
    const agents = [...this.#agents.values()].sort((a, b) => compare(a.name, b.name) || compare(a.agentId, b.agentId));
    const words = Math.ceil(agents.length / 32);
    this.#ordered = agents.map(({ agentId }) => agentId);
    this.#healthy = new Uint32Array(words);
    this.#everybody = new Uint32Array(words);
    this.#places.clear();
    const places = new Map<string, number[]>();
    for (const [place, { agentId, capabilities, isHealthy }] of agents.entries()) {
      this.#places.set(agentId, place);
      setBit(this.#healthy, place, isHealthy);
      setBit(this.#everybody, place, true);
      for (const capability of new Set(capabilities)) {
        const known = places.get(capability);
        if (known === undefined) places.set(capability, [place]);
        else known.push(place);
      }
    }
    this.#rows.clear();
    this.#few.clear();
    for (const [capability, those] of places) {
      this.#few.set(capability, those);
      const row = those.length > Math.max(FEW, words) ? this.#rowOfFew(capability) : undefined;
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

function countAll(row: Uint32Array): number {
  return row.reduce((sum, bits) => sum + countBits(bits), 0);
}

function setBit(row: Uint32Array, place: number, isSet: boolean): void {
  const word = place >>> 5;
  const bit = 1 << (place & 31);
  row[word] = isSet ? (row[word] ?? 0) | bit : (row[word] ?? 0) & ~bit;
}

function lowestBit(bits: number): number {
  return 31 - Math.clz32(bits & -bits);
}

function countBits(bits: number): number {
  let sum = bits - ((bits >>> 1) & 0x55555555);
  sum = (sum & 0x33333333) + ((sum >>> 2) & 0x33333333);
  return Math.imul((sum + (sum >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** By code unit: the same order on every machine. */
function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** A list of places is kept where it is shorter than its row, or as short as this: a row is quickly made of it. */
const FEW = 32;
