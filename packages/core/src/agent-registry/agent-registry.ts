import type { AgentCard } from '@dragoman/protocols/a2a-messages';
import type { Clock } from '../ports/ports.ts';
import { refuse } from '../refusals/refused.ts';
import { OwnWrites } from '../store/own-writes.ts';
import type { RegistrationRow, RegistrationStore } from '../store/store.ts';
import { CapabilityIndex, type Indexed, type IndexQuery } from './capability-index.ts';
import { areAlike } from './spellings.ts';

/** An agent as discovery shows it. */
export interface RegisteredAgent extends Indexed {
  readonly card: AgentCard;
  /** The URI at which the agent listens. */
  readonly endpoint: string;
  /** The caller that registered it; `undefined` for an agent of this server, which needs no registration. */
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
  /** The agents of this server, and a version number that changes with them. */
  readonly hosted: { agents(): readonly HostedAgent[]; version(): number };
  /** Whether an id outside the registry belongs to another caller. Such an id cannot be registered. */
  readonly isTaken: (agentId: string, owner: string) => boolean;
  /** The ids for which `isTaken` may return true. They cannot be registered in another upper or lower case either. */
  readonly names?: () => Iterable<string>;
  /** How many agents one caller may register. Default: 1,000. */
  readonly mostOwned?: number;
  /** Called for every agent that was added, changed or removed, so that routing can follow. */
  readonly onChange?: (agent: RegisteredAgent, what: 'put' | 'removed') => void;
}

/**
 * The agents that can be discovered, by capability. A registered agent is healthy while it sends heartbeats: after 90 seconds without
 * one it is stale, and the next one revives it. Stale agents are kept.
 */
export class AgentRegistry {
  readonly #index = new CapabilityIndex<RegisteredAgent>();
  /** The healthy registered agents with the time of their last heartbeat on the monotonic clock, oldest first. */
  readonly #beating = new Map<string, number>();
  readonly #writes = new OwnWrites();
  #beatsReadUntil = 0;
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

  /** Reads the recorded agents; called again after another process has changed them. `false`: call it once more. */
  load(): Promise<boolean> {
    return this.#writes.reading(
      () => this.#store.list(),
      (rows, isOwn) => {
        const there = new Set(rows.map(({ agentId }) => agentId));
        // Agents of this server are looked up on demand.
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

  /** Reads the heartbeats that other processes have received since the last call. */
  async readBeats(): Promise<void> {
    const beats = await this.#store.beats(this.#beatsReadUntil - OVERLAP_MS);
    for (const beat of beats) {
      const { agentId, lastHeartbeat } = beat;
      this.#beatsReadUntil = Math.max(this.#beatsReadUntil, lastHeartbeat);
      const known = this.#index.get(agentId);
      if (known?.owner === undefined || known.lastHeartbeat >= lastHeartbeat) continue;
      this.#beat({ ...known, lastHeartbeat }, this.#elapsedAt(beat));
    }
  }

  /** When a heartbeat was received, on the monotonic clock. One in the future counts as now: the clock was set back. */
  #elapsedAt({ lastHeartbeat }: Pick<RegistrationRow, 'lastHeartbeat'>): number {
    return this.#clock.elapsed() - Math.max(0, this.#clock.now().getTime() - lastHeartbeat);
  }

  /** Registers an agent, or updates it. An id belongs to the caller of that name, else to the caller that registered it first. */
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
      const message = `One caller may register ${this.#mostOwned} agents; remove one that is no longer needed.`;
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
      // If two callers register the same id at once, even in two processes, the store accepts the first.
      if (!(await this.#store.put(row))) refuseAnothers(agentId);
      return { agent: this.#put(row), isNew };
    });
  }

  /** Records a heartbeat. Returns its time; `undefined` when the owner has not registered an agent with this id. */
  async beat(owner: string, agentId: string): Promise<number | undefined> {
    const known = this.find(agentId);
    if (known === undefined || known.owner !== owner) return undefined;
    const lastBeat = this.#beating.get(agentId);
    // Each recorded heartbeat is a commit, so frequent ones are skipped.
    if (lastBeat !== undefined && this.#clock.elapsed() - lastBeat < SOONEST_BEAT_MS) return known.lastHeartbeat;
    const now = this.#clock.now().getTime();
    if (!(await this.#store.beat(agentId, now))) return undefined;
    const latest = this.#index.get(agentId);
    if (latest !== undefined) this.#beat({ ...latest, lastHeartbeat: now });
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
   * Called when administration has removed an agent. Removes the agent's own registration and the agents that it has
   * registered, because no other caller owns them. Returns how many were removed.
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

  /** Sorted by name, then id; `total` includes agents beyond the limit. */
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
    // A caller may update its registration, and register its own name, even if another id is alike.
    const other = known === undefined && agentId !== owner ? this.#alike(agentId) : undefined;
    if (other !== undefined) {
      const [one, taken] = [agentId, other].map((id) => JSON.stringify(id));
      const message = `The id ${one} differs from the existing id ${taken} only in upper and lower case; choose another.`;
      refuse('forbidden', {}, message);
    }
  }

  #alike(agentId: string): string | undefined {
    return this.#index.alike(agentId) ?? [...this.#names()].find((other) => areAlike(other, agentId));
  }

  #put(row: RegistrationRow, beatAt?: number): RegisteredAgent {
    const card = JSON.parse(row.card) as AgentCard;
    const { agentId, owner, endpoint, registeredAt, lastHeartbeat } = row;
    const { name, capabilities } = card;
    const agent = { agentId, name, capabilities, isHealthy: true, card, endpoint, owner, registeredAt, lastHeartbeat };
    const before = this.#index.get(agentId)?.owner;
    if (before !== owner) {
      if (before !== undefined) this.#count(before, -1);
      this.#count(owner, 1);
    }
    this.#beat(agent, beatAt);
    this.#onChange(agent, 'put');
    return agent;
  }

  #count(owner: string, change: 1 | -1): void {
    const count = (this.#owned.get(owner) ?? 0) + change;
    if (count > 0) this.#owned.set(owner, count);
    else this.#owned.delete(owner);
  }

  #beat(agent: RegisteredAgent, at: number = this.#clock.elapsed()): void {
    const isHealthy = at >= this.#clock.elapsed() - STALE_MS;
    this.#beating.delete(agent.agentId);
    if (isHealthy) this.#beating.set(agent.agentId, at);
    this.#index.put({ ...agent, isHealthy });
  }

  /** Applies expired heartbeats and changes by administration. */
  #refresh(): void {
    const stale = this.#clock.elapsed() - STALE_MS;
    for (const [agentId, beatAt] of this.#beating) {
      if (beatAt >= stale) break;
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

/** The time of an agent's last heartbeat. Agents of this server need none: their time is always now. */
export function lastHeartbeatOf({ owner, lastHeartbeat }: RegisteredAgent, now: Date): Date {
  return owner === undefined ? now : new Date(lastHeartbeat);
}

/** Agents send a heartbeat every 30 seconds; after three missed ones an agent is stale. */
export const STALE_MS = 90_000;
const SOONEST_BEAT_MS = 1_000;
const EVERYBODY: IndexQuery = { capabilities: [], status: 'all', limit: Number.POSITIVE_INFINITY };
const MOST_AGENTS = 100_000;
/** A heartbeat may be committed a little after its time. */
const OVERLAP_MS = 10_000;
