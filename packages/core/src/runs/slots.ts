import { isAnonymousOwner } from '../store/anonymous.ts';

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
 * How many requests an agent works on at once. Waiting requests are served round robin between known principals, so that
 * one with a thousand requests does not keep out one with a single request; each principal's own go by priority, then age.
 * Anonymous principals are served in the same way, but only when no known principal waits.
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
    return agent.running < this.#limitOf(agentId) && nextLine(agent) === undefined
      ? this.#slot(agentId, agent)
      : undefined;
  }

  /**
   * Lets a request wait that is yet to be recorded; `undefined` when too many do. Only this is refused: what was accepted is
   * answered, so `take` lets everybody wait.
   */
  tryWait(agentId: string, principal: string): Announced | undefined {
    const agent = this.#agent(agentId);
    const line = lineOf(agent, principal);
    const announced = line.announced.get(principal) ?? 0;
    const own = announced + (line.queues.get(principal)?.length ?? 0);
    const isFull = line.waiting + line.coming >= line.most;
    if (isFull || own >= MOST_WAITING_OF_ONE) return undefined;
    line.announced.set(principal, announced + 1);
    line.coming++;
    let held = true;
    return {
      release: () => {
        if (!held) return;
        held = false;
        line.coming--;
        const left = (line.announced.get(principal) ?? 1) - 1;
        if (left === 0) line.announced.delete(principal);
        else line.announced.set(principal, left);
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
      const line = lineOf(agent, principal);
      const giveUp = () => {
        if (!remove(line, principal, waiter)) return;
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
      const queue = line.queues.get(principal) ?? [];
      line.queues.set(principal, queue);
      queue.push(waiter);
      queue.sort((a, b) => a.priority - b.priority || a.order - b.order);
      line.waiting++;
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
    for (let line = nextLine(agent); line !== undefined; line = nextLine(agent)) {
      if (agent.running >= this.#limitOf(agentId)) return;
      // The map keeps insertion order: take from the first principal, then put it last.
      const [principal, queue] = line.queues.entries().next().value as [string, Waiter[]];
      const waiter = queue.shift() as Waiter;
      line.waiting--;
      this.#waiting--;
      line.queues.delete(principal);
      if (queue.length > 0) line.queues.set(principal, queue);
      waiter.serve(this.#slot(agentId, agent));
    }
  }

  #agent(agentId: string): AgentSlots {
    let agent = this.#agents.get(agentId);
    if (agent === undefined) {
      agent = { running: 0, known: newLine(MOST_WAITING), anonymous: newLine(MOST_WAITING_ANONYMOUS) };
      this.#agents.set(agentId, agent);
    }
    return agent;
  }
}

interface AgentSlots {
  running: number;
  readonly known: Line;
  readonly anonymous: Line;
}

/** The principals that wait for one agent, in the order of their turns. */
interface Line {
  /** How many requests may wait in it. */
  readonly most: number;
  waiting: number;
  /** Announced, and not waiting yet. */
  coming: number;
  readonly queues: Map<string, Waiter[]>;
  /** How many of the announced requests each principal has. */
  readonly announced: Map<string, number>;
}

function newLine(most: number): Line {
  return { most, waiting: 0, coming: 0, queues: new Map(), announced: new Map() };
}

function lineOf(agent: AgentSlots, principal: string): Line {
  return isAnonymousOwner(principal) ? agent.anonymous : agent.known;
}

/** The line to serve next; `undefined` when nobody waits. */
function nextLine({ known, anonymous }: AgentSlots): Line | undefined {
  if (known.waiting > 0) return known;
  return anonymous.waiting > 0 ? anonymous : undefined;
}

interface Waiter {
  readonly priority: number;
  readonly order: number;
  readonly serve: (slot: Slot) => void;
}

function remove(line: Line, principal: string, waiter: Waiter): boolean {
  const queue = line.queues.get(principal);
  const index = queue?.indexOf(waiter) ?? -1;
  if (queue === undefined || index === -1) return false;
  queue.splice(index, 1);
  if (queue.length === 0) line.queues.delete(principal);
  line.waiting--;
  return true;
}

/** Of known principals, for one agent. Each request is kept in memory until its turn. */
const MOST_WAITING = 10_000;
/** The default of `connections_per_agent`: a caller that waits for its answers reaches that limit first. */
const MOST_WAITING_OF_ONE = 1_000;
/** Of all anonymous principals together: known callers go first, so what waits here may wait long. */
const MOST_WAITING_ANONYMOUS = 100;
