/** A place to run in. Give it back exactly once. */
export interface Slot {
  release(): void;
}

export interface SlotRequest {
  readonly agentId: string;
  readonly principal: string;
  /** Lower runs first among one principal's own. */
  readonly priority: number;
  readonly signal: AbortSignal;
}

/** A request that will wait. Give it back exactly once: when it has called `take`, or when it never will. */
export interface Announced {
  release(): void;
}

/**
 * How many requests an agent works on at once. Those that wait are served one principal after the other, so that one
 * with a thousand requests does not keep out one with a single request; each principal's own go by priority, then age.
 */
export class Slots {
  readonly #limitOf: (agentId: string) => number;
  readonly #agents = new Map<string, AgentSlots>();
  #order = 0;
  #waiting = 0;

  constructor({ limitOf }: { limitOf: (agentId: string) => number }) {
    this.#limitOf = limitOf;
  }

  /** A slot if one is free and nobody waits for it. */
  tryTake(agentId: string): Slot | undefined {
    const agent = this.#agent(agentId);
    return agent.running < this.#limitOf(agentId) && agent.waiting === 0 ? this.#slot(agentId, agent) : undefined;
  }

  /**
   * Lets a request wait that is yet to be recorded; `undefined` when too many do. Only this is refused: what was accepted is
   * answered, so `take` lets everybody wait.
   */
  tryWait(agentId: string, principal: string): Announced | undefined {
    const agent = this.#agent(agentId);
    const announced = agent.announced.get(principal) ?? 0;
    const own = announced + (agent.queues.get(principal)?.length ?? 0);
    if (own >= MOST_WAITING_OF_ONE || agent.waiting + agent.coming >= MOST_WAITING) return undefined;
    agent.announced.set(principal, announced + 1);
    agent.coming++;
    let held = true;
    return {
      release: () => {
        if (!held) return;
        held = false;
        agent.coming--;
        const left = (agent.announced.get(principal) ?? 1) - 1;
        if (left === 0) agent.announced.delete(principal);
        else agent.announced.set(principal, left);
      },
    };
  }

  /** A slot as soon as it is this request's turn; rejects when the signal aborts first. */
  take(request: SlotRequest): Promise<Slot> {
    const free = this.tryTake(request.agentId);
    if (free !== undefined) return Promise.resolve(free);
    const agent = this.#agent(request.agentId);
    return new Promise((resolve, reject) => {
      const { principal, signal } = request;
      const giveUp = () => {
        if (!remove(agent, principal, waiter)) return;
        this.#waiting--;
        reject(signal.reason);
      };
      const waiter: Waiter = {
        priority: request.priority,
        order: this.#order++,
        serve: (slot) => {
          signal.removeEventListener('abort', giveUp);
          resolve(slot);
        },
      };
      const queue = agent.queues.get(principal) ?? [];
      agent.queues.set(principal, queue);
      queue.push(waiter);
      queue.sort((a, b) => a.priority - b.priority || a.order - b.order);
      agent.waiting++;
      this.#waiting++;
      signal.addEventListener('abort', giveUp, { once: true });
      if (signal.aborted) giveUp();
    });
  }

  /** How many wait, for all agents together. */
  get waiting(): number {
    return this.#waiting;
  }

  #slot(agentId: string, agent: AgentSlots): Slot {
    agent.running++;
    let held = true;
    return {
      release: () => {
        if (!held) return;
        held = false;
        agent.running--;
        this.#next(agentId, agent);
      },
    };
  }

  #next(agentId: string, agent: AgentSlots): void {
    while (agent.waiting > 0 && agent.running < this.#limitOf(agentId)) {
      // The map keeps insertion order: take from the first principal, then put it last.
      const [principal, queue] = agent.queues.entries().next().value as [string, Waiter[]];
      const waiter = queue.shift() as Waiter;
      agent.waiting--;
      this.#waiting--;
      agent.queues.delete(principal);
      if (queue.length > 0) agent.queues.set(principal, queue);
      waiter.serve(this.#slot(agentId, agent));
    }
  }

  #agent(agentId: string): AgentSlots {
    let agent = this.#agents.get(agentId);
    if (agent === undefined) {
      agent = { running: 0, waiting: 0, coming: 0, queues: new Map(), announced: new Map() };
      this.#agents.set(agentId, agent);
    }
    return agent;
  }
}

interface AgentSlots {
  running: number;
  waiting: number;
  /** Announced, and not waiting yet. */
  coming: number;
  readonly queues: Map<string, Waiter[]>;
  /** How many of those that come are whose. */
  readonly announced: Map<string, number>;
}

interface Waiter {
  readonly priority: number;
  readonly order: number;
  readonly serve: (slot: Slot) => void;
}

function remove(agent: AgentSlots, principal: string, waiter: Waiter): boolean {
  const queue = agent.queues.get(principal);
  const index = queue?.indexOf(waiter) ?? -1;
  if (queue === undefined || index === -1) return false;
  queue.splice(index, 1);
  if (queue.length === 0) agent.queues.delete(principal);
  agent.waiting--;
  return true;
}

/** For one agent. Each is kept in memory until its turn. */
const MOST_WAITING = 10_000;
/** As many as one caller may have open unless told: who waits for its answers meets that limit first. Ten fill the queue. */
const MOST_WAITING_OF_ONE = 1_000;
