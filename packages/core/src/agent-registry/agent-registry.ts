import type { AgentCard } from '@dragoman/protocols/a2a-messages';
import type { Clock } from '../ports/ports.ts';
import { refuse } from '../refusals/refused.ts';
import { OwnWrites } from '../store/own-writes.ts';
import type { RegistrationRow, RegistrationStore } from '../store/store.ts';
import { CapabilityIndex, type Indexed, type IndexQuery } from './capability-index.ts';
import { areAlike } from './spellings.ts';

/** An agent as others find it. */
export interface RegisteredAgent extends Indexed {
  readonly card: AgentCard;
  /** Where it listens, as a URI. */
  readonly endpoint: string;
  /** Who registered it; `undefined` for an agent of this server, which is there without asking. */
  readonly owner: string | undefined;
  /** Epoch milliseconds. */
  readonly registeredAt: number;
  readonly lastHeartbeat: number;
}

/** An agent of this server. */
export type HostedAgent = Pick<RegisteredAgent, 'card' | 'endpoint'>;

export interface AgentRegistryOptions {
  readonly store: RegistrationStore;
  readonly clock: Clock;
  /** The agents of this server, and a number that is another one after they changed. */
  readonly hosted: { agents(): readonly HostedAgent[]; version(): number };
  /** Whose name an id is, beside those of the registry: nobody else may register it. */
  readonly isTaken: (agentId: string, owner: string) => boolean;
  /** Those names, none of which anybody may register in another spelling. */
  readonly names?: () => Iterable<string>;
  /** How many one caller may register. Default: 1,000. */
  readonly mostOwned?: number;
  /** Told of every agent that came, changed or went, so that it can be reached or no more. */
  readonly onChange?: (agent: RegisteredAgent, what: 'put' | 'removed') => void;
}

/**
 * The agents that can be found, by what they can do. One that registered is healthy as long as it beats: without a beat for
 * 90 seconds it is stale, the next one revives it. Nobody is forgotten by age.
 */
export class AgentRegistry {
  readonly #index = new CapabilityIndex<RegisteredAgent>();
  /** Those that registered and are healthy, the longest silent first: when they were heard, by a clock nobody sets. */
  readonly #beating = new Map<string, number>();
  readonly #writes = new OwnWrites();
  #heardUntil = 0;
  readonly #owned = new Map<string, number>();
  readonly #store: RegistrationStore;
  readonly #clock: Clock;
  readonly #hosted: AgentRegistryOptions['hosted'];
  readonly #isTaken: AgentRegistryOptions['isTaken'];
  readonly #names: NonNullable<AgentRegistryOptions['names']>;
  readonly #mostOwned: number;
  readonly #onChange: NonNullable<AgentRegistryOptions['onChange']>;
  #hostedIds = new Set<string>();
  #hostedVersion = -1;

  constructor(options: AgentRegistryOptions) {
    const { store, clock, hosted, isTaken, names = () => [], mostOwned = 1_000, onChange = () => {} } = options;
    this.#store = store;
    this.#clock = clock;
    this.#hosted = hosted;
    this.#isTaken = isTaken;
    this.#names = names;
    this.#mostOwned = mostOwned;
    this.#onChange = onChange;
  }

  /** Reads what is recorded; again after another process has changed it. False when some of it must be read once more. */
  load(): Promise<boolean> {
    return this.#writes.reading(
      () => this.#store.list(),
      (rows, isOwn) => {
        const there = new Set(rows.map(({ agentId }) => agentId));
        // Those of this server are looked up when somebody asks.
        for (const { agentId, owner } of this.#index.find(EVERYBODY).agents) {
          if (owner !== undefined && !there.has(agentId) && !isOwn(agentId)) this.#forget(agentId, owner);
        }
        for (const row of [...rows].sort((a, b) => a.lastHeartbeat - b.lastHeartbeat)) {
          if (!isOwn(row.agentId) && !isSameAgent(this.#index.get(row.agentId), row))
            this.#put(row, this.#elapsedAt(row));
        }
      },
    );
  }

  /** Takes over the heartbeats that other processes have received since the last time. */
  async hear(): Promise<void> {
    const beats = await this.#store.beats(this.#heardUntil - OVERLAP_MS);
    for (const beat of beats) {
      const { agentId, lastHeartbeat } = beat;
      this.#heardUntil = Math.max(this.#heardUntil, lastHeartbeat);
      const known = this.#index.get(agentId);
      if (known?.owner === undefined || known.lastHeartbeat >= lastHeartbeat) continue;
      this.#heard({ ...known, lastHeartbeat }, this.#elapsedAt(beat));
    }
  }

  /** Heard in the future was heard now: the clock was set back. */
  #elapsedAt({ lastHeartbeat }: Pick<RegistrationRow, 'lastHeartbeat'>): number {
    return this.#clock.elapsed() - Math.max(0, this.#clock.now().getTime() - lastHeartbeat);
  }

  /** Registers an agent, or what changed of it. An id belongs to the caller of that name, else to who registered it first. */
  async register(
    owner: string,
    card: AgentCard,
    endpoint: string,
  ): Promise<{ agent: RegisteredAgent; isNew: boolean }> {
    const agentId = card.agent_id;
    const known = this.find(agentId);
    this.#refuseTaken(agentId, owner, known);
    const isNew = known === undefined;
    if (isNew && this.#index.size >= MOST_AGENTS) refuse('busy', {}, 'The registry is full.');
    if (known?.owner !== owner && (this.#owned.get(owner) ?? 0) >= this.#mostOwned) {
      const message = `One caller may register ${this.#mostOwned} agents; remove one that is not needed any more.`;
      refuse('forbidden', { limit: this.#mostOwned }, message);
    }
    const now = this.#clock.now().getTime();
    const row: RegistrationRow = {
      agentId,
      owner,
      card: JSON.stringify(card),
      endpoint,
      registeredAt: known?.registeredAt ?? now,
      lastHeartbeat: now,
    };
    return this.#writes.of(agentId, async () => {
      // Of two that want the same id at once, here or in two processes, the store takes the first.
      if (!(await this.#store.put(row))) refuseAnothers(agentId);
      return { agent: this.#put(row), isNew };
    });
  }

  /** The agent is alive. The time it was heard; `undefined` when the owner has registered none of this id. */
  async beat(owner: string, agentId: string): Promise<number | undefined> {
    const known = this.find(agentId);
    if (known === undefined || known.owner !== owner) return undefined;
    const heard = this.#beating.get(agentId);
    // A drum is no news, and each beat is a commit.
    if (heard !== undefined && this.#clock.elapsed() - heard < SOONEST_BEAT_MS) return known.lastHeartbeat;
    const now = this.#clock.now().getTime();
    if (!(await this.#store.beat(agentId, now))) return undefined;
    const latest = this.#index.get(agentId);
    if (latest !== undefined) this.#heard({ ...latest, lastHeartbeat: now });
    return now;
  }

  async remove(owner: string, agentId: string): Promise<boolean> {
    const known = this.find(agentId);
    if (known === undefined || known.owner !== owner) return false;
    await this.#writes.of(agentId, async () => {
      await this.#store.remove(agentId);
      this.#forget(agentId, owner);
    });
    return true;
  }

  #forget(agentId: string, owner: string): void {
    const known = this.#index.get(agentId);
    if (this.#index.delete(agentId)) this.#count(owner, -1);
    this.#beating.delete(agentId);
    if (known !== undefined) this.#onChange(known, 'removed');
  }

  /**
   * Administration has removed an agent: takes it out if it is one that registered, and whatever it has registered itself, for
   * which nobody else can speak. Returns how many that were.
   */
  async forget(agentId: string): Promise<number> {
    let forgotten = 0;
    for (const one of this.registered()) {
      if (one.owner !== agentId && one.agentId !== agentId) continue;
      if (await this.remove(one.owner, one.agentId)) forgotten += 1;
    }
    return forgotten;
  }

  /** The agents that callers registered, healthy or not. */
  registered(): (RegisteredAgent & { readonly owner: string })[] {
    return this.discover(EVERYBODY).agents.flatMap((agent) =>
      agent.owner === undefined ? [] : [{ ...agent, owner: agent.owner }],
    );
  }

  find(agentId: string): RegisteredAgent | undefined {
    this.#refresh();
    return this.#index.get(agentId);
  }

  /** In the order of name, then id; `total` counts those beyond the limit too. */
  discover(query: IndexQuery): { agents: RegisteredAgent[]; total: number } {
    this.#refresh();
    return this.#index.find(query);
  }

  stats(): { total: number; healthy: number; capabilities: ReadonlyMap<string, number> } {
    this.#refresh();
    const { total } = this.#index.find({ capabilities: [], status: 'healthy', limit: 0 });
    return { total: this.#index.size, healthy: total, capabilities: this.#index.counts() };
  }

  #refuseTaken(agentId: string, owner: string, known: RegisteredAgent | undefined): void {
    const isAnothers = known !== undefined && known.owner !== owner && (known.owner === undefined || agentId !== owner);
    if (isAnothers || this.#isTaken(agentId, owner)) refuseAnothers(agentId);
    // Who has it keeps it, and the name of a caller is its own.
    const other = known === undefined && agentId !== owner ? this.#alike(agentId) : undefined;
    if (other !== undefined) {
      const [one, taken] = [agentId, other].map((id) => JSON.stringify(id));
      const message = `The id ${one} differs from ${taken}, which is taken, only in the case of letters; choose another.`;
      refuse('forbidden', {}, message);
    }
  }

  #alike(agentId: string): string | undefined {
    return this.#index.alike(agentId) ?? [...this.#names()].find((other) => areAlike(other, agentId));
  }

  #put(row: RegistrationRow, heardAt?: number): RegisteredAgent {
    const card = JSON.parse(row.card) as AgentCard;
    const { agentId, owner, endpoint, registeredAt, lastHeartbeat } = row;
    const { name, capabilities } = card;
    const agent = { agentId, name, capabilities, isHealthy: true, card, endpoint, owner, registeredAt, lastHeartbeat };
    const before = this.#index.get(agentId)?.owner;
    if (before !== owner) {
      if (before !== undefined) this.#count(before, -1);
      this.#count(owner, 1);
    }
    this.#heard(agent, heardAt);
    this.#onChange(agent, 'put');
    return agent;
  }

  #count(owner: string, change: 1 | -1): void {
    const count = (this.#owned.get(owner) ?? 0) + change;
    if (count > 0) this.#owned.set(owner, count);
    else this.#owned.delete(owner);
  }

  #heard(agent: RegisteredAgent, at: number = this.#clock.elapsed()): void {
    const isHealthy = at >= this.#clock.elapsed() - STALE_MS;
    this.#beating.delete(agent.agentId);
    if (isHealthy) this.#beating.set(agent.agentId, at);
    this.#index.put({ ...agent, isHealthy });
  }

  /** What time and administration have changed since somebody last asked. */
  #refresh(): void {
    const stale = this.#clock.elapsed() - STALE_MS;
    for (const [agentId, heardAt] of this.#beating) {
      if (heardAt >= stale) break;
      this.#beating.delete(agentId);
      const agent = this.#index.get(agentId);
      if (agent !== undefined) this.#index.put({ ...agent, isHealthy: false });
    }
    if (this.#hosted.version() !== this.#hostedVersion) this.#host();
  }

  #host(): void {
    this.#hostedVersion = this.#hosted.version();
    const now = this.#clock.now().getTime();
    const before = this.#hostedIds;
    this.#hostedIds = new Set();
    for (const { card, endpoint } of this.#hosted.agents()) {
      const agentId = card.agent_id;
      const since = before.has(agentId) ? (this.#index.get(agentId)?.registeredAt ?? now) : now;
      const { name, capabilities } = card;
      const times = { registeredAt: since, lastHeartbeat: now };
      this.#beating.delete(agentId);
      this.#index.put({ agentId, name, capabilities, isHealthy: true, card, endpoint, owner: undefined, ...times });
      this.#hostedIds.add(agentId);
    }
    for (const agentId of before) if (!this.#hostedIds.has(agentId)) this.#index.delete(agentId);
  }
}

function isSameAgent(known: RegisteredAgent | undefined, row: RegistrationRow): boolean {
  return (
    known?.owner === row.owner &&
    known.endpoint === row.endpoint &&
    known.registeredAt === row.registeredAt &&
    JSON.stringify(known.card) === row.card
  );
}

function refuseAnothers(agentId: string): never {
  refuse('forbidden', {}, `The id ${JSON.stringify(agentId)} belongs to another agent; choose another.`);
}

/** When an agent was last heard. Those of this server need not beat: it answers for them whenever somebody asks. */
export function lastHeard({ owner, lastHeartbeat }: RegisteredAgent, now: Date): Date {
  return owner === undefined ? now : new Date(lastHeartbeat);
}

/** Agents beat every 30 seconds; three beats missed is gone. */
export const STALE_MS = 90_000;
const SOONEST_BEAT_MS = 1_000;
const EVERYBODY: IndexQuery = { capabilities: [], status: 'all', limit: Number.POSITIVE_INFINITY };
const MOST_AGENTS = 100_000;
/** What is committed later may be of a little earlier. */
const OVERLAP_MS = 10_000;
