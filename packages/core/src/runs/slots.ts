import type { Principal } from '../call/principal.ts';
import type { StopSignal } from '../ending/ending.ts';

/** A place to run in. Release it exactly once. */
export interface Slot {
  release(): void;
}

export interface SlotRequest {
  readonly lane: string;
  readonly principal: Waiting;
  /** Lower runs first among one principal's own. */
  readonly priority: number;
  readonly signal: StopSignal;
}

/** A waiting run. */
type Waiting = Pick<Principal, 'id' | 'kind'>;

/** The right of a request to wait. Release it exactly once: when the request has called `take`, or never will. */
export interface Announced {
  release(): void;
}

/**
 * Limits how many runs of a lane, such as the requests of an agent, work at once. Waiting runs are served round robin
 * between known principals, so that a thousand runs of one do not delay a single run of another; the runs of one
 * principal go by priority, then age. Anonymous principals are served in the same way, but only when no known principal
 * waits.
 */
export class Slots {
  readonly #limitOf: (lane: string) => number;
  readonly #lanes = new Map<string, LaneSlots>();
  #order = 0;

  constructor({ limitOf }: { limitOf: (lane: string) => number }) {
    this.#limitOf = limitOf;
  }

  /** A slot if one is free and no run waits for it. */
  tryTake(lane: string): Slot | undefined {
    const slots = this.#slotsOf(lane);
    return slots.running < this.#limitOf(lane) && nextLine(slots) === undefined ? this.#slot(lane, slots) : undefined;
  }

  /**
   * Announces a request that will wait once it is recorded; `undefined` when too many wait. `take` has no limit,
   * because an accepted request must be answered.
   */
  tryWait(lane: string, waiting: Waiting): Announced | undefined {
    const slots = this.#slotsOf(lane);
    const line = lineOf(slots, waiting);
    const principal = waiting.id;
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
    const free = this.tryTake(request.lane);
    if (free !== undefined) return Promise.resolve(free);
    const slots = this.#slotsOf(request.lane);
    return new Promise((resolve, reject) => {
      const { signal } = request;
      const line = lineOf(slots, request.principal);
      const principal = request.principal.id;
      const giveUp = () => {
        if (!remove(line, principal, waiter)) return;
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
      signal.addEventListener('abort', giveUp, { once: true });
      if (signal.aborted) giveUp();
    });
  }

  #slot(lane: string, slots: LaneSlots): Slot {
    slots.running++;
    let held = true;
    return {
      release: () => {
        if (!held) return;
        held = false;
        slots.running--;
        this.#next(lane, slots);
      },
    };
  }

  #next(lane: string, slots: LaneSlots): void {
    for (let line = nextLine(slots); line !== undefined; line = nextLine(slots)) {
      if (slots.running >= this.#limitOf(lane)) return;
      // The map keeps insertion order: take from the first principal, then put it last.
      const [principal, queue] = line.queues.entries().next().value as [string, Waiter[]];
      const waiter = queue.shift() as Waiter;
      line.waiting--;
      line.queues.delete(principal);
      if (queue.length > 0) line.queues.set(principal, queue);
      waiter.serve(this.#slot(lane, slots));
    }
  }

  #slotsOf(lane: string): LaneSlots {
    let slots = this.#lanes.get(lane);
    if (slots === undefined) {
      slots = { running: 0, known: newLine(MOST_WAITING), anonymous: newLine(MOST_WAITING_ANONYMOUS) };
      this.#lanes.set(lane, slots);
    }
    return slots;
  }
}

interface LaneSlots {
  running: number;
  readonly known: Line;
  readonly anonymous: Line;
}

/** The known or the anonymous principals that wait for a lane. */
interface Line {
  /** How many requests may wait in this line. */
  readonly most: number;
  waiting: number;
  /** How many requests are announced and not waiting yet. */
  coming: number;
  /** By principal, in the order of their turns. */
  readonly queues: Map<string, Waiter[]>;
  /** How many of the announced requests each principal has. */
  readonly announced: Map<string, number>;
}

function newLine(most: number): Line {
  return { most, waiting: 0, coming: 0, queues: new Map(), announced: new Map() };
}

function lineOf(slots: LaneSlots, { kind }: Waiting): Line {
  return kind === 'anonymous' ? slots.anonymous : slots.known;
}

/** The line to serve next; `undefined` when no run waits. */
function nextLine({ known, anonymous }: LaneSlots): Line | undefined {
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

/** Waiting requests of all known principals in one lane. Each is kept in memory until its turn. */
const MOST_WAITING = 10_000;
/** The default of `connections_per_agent`: a caller that waits for its answers reaches that limit first. */
const MOST_WAITING_OF_ONE = 1_000;
/** Waiting requests of all anonymous principals in one lane. Known callers go first, so these may wait long. */
const MOST_WAITING_ANONYMOUS = 100;
