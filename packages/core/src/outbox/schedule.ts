import { SenderTurns } from './sender-turns.ts';

/** What waits for its turn. */
export interface Scheduled {
  readonly id: string;
  /** On whose behalf. */
  readonly owner: string;
  /** Of the receiver, without its port. */
  readonly host: string;
  /** 0 goes first, 2 last. */
  readonly priority: number;
}

/**
 * Whose turn it is. Hosts take turns, so that one with a thousand callbacks keeps nobody waiting, and so do senders at one host;
 * among those of one host, and among hosts, the urgent go first. A host has a few places once it has answered, and only one before that and while it does
 * not answer: a dead one holds up its own callbacks and no others. Of all places, those that do not answer have half at most, and
 * with those that were never heard of three quarters, so that however many they are the others find one.
 */
export class Schedule<Item extends Scheduled> {
  readonly #perHost: number;
  /** Places by standing: of each and of those worse than it together. */
  readonly #places: readonly number[];
  readonly #hosts = new Map<string, Host<Item>>();
  /** Those with nothing to do, whose standing is remembered; the longest idle first. */
  readonly #idle = new Set<Host<Item>>();
  /**
   * By the priority of what they have to send next and by standing: hosts with something to send and a place to send it from, in
   * turn.
   */
  readonly #ready: readonly (readonly Set<Host<Item>>[])[] = [0, 1, 2].map(() => STANDINGS.map(() => new Set()));
  /** By standing. */
  readonly #trying = STANDINGS.map(() => 0);
  #running = 0;
  #placed = 0;

  constructor({ perHost, total }: { perHost: number; total: number }) {
    this.#perHost = perHost;
    this.#places = STANDINGS.map(({ share }) => Math.ceil(total * share));
  }

  /** How many wait. */
  get size(): number {
    let size = 0;
    for (const host of this.#hosts.values()) for (const queue of host.queues) size += queue.length;
    return size;
  }

  add(item: Item): void {
    let host = this.#hosts.get(item.host);
    if (host === undefined) {
      const queues = [0, 1, 2].map(() => new SenderTurns<Item>());
      host = { name: item.host, running: 0, standing: UNHEARD, queues, turn: undefined, placed: 0 };
      this.#hosts.set(item.host, host);
    }
    this.#idle.delete(host);
    host.queues[levelOf(item)]?.push(item);
    this.#place(host);
  }

  /** The next one, which now has a place at its host and one among all; `undefined` when nobody's turn has come. */
  next(): Item | undefined {
    const worst = this.#worstWithRoom();
    for (const turns of this.#ready) {
      const host = firstOf(turns, worst);
      if (host === undefined) continue;
      const item = host.queues.find((queue) => queue.length > 0)?.shift();
      this.#count(host, 1);
      this.#running++;
      // Behind all others, for its next turn.
      this.#unplace(host);
      this.#place(host);
      return item;
    }
    return undefined;
  }

  /**
   * Of those that wait for a host that answers, those whose turns come when all its places have been given again, and once more;
   * nobody, if they are few.
   */
  following(name: string): readonly Item[] {
    const host = this.#hosts.get(name);
    if (host?.standing !== ANSWERING) return [];
    const queue = host.queues.find((one) => one.length > 0);
    return queue?.slice(this.#perHost - 1, 2 * this.#perHost - 1) ?? [];
  }

  /** Gives the place at the host back. `answered`: whether it did; `undefined` when nobody asked it. */
  leave(name: string, { answered }: { answered: boolean | undefined }): void {
    const host = this.#hosts.get(name);
    if (host === undefined) return;
    const running = host.running - 1;
    this.#count(host, -host.running);
    if (answered !== undefined) host.standing = answered ? ANSWERING : SILENT;
    this.#count(host, running);
    this.#place(host);
    this.#restIfIdle(host);
  }

  /** Gives the place among all back. */
  release(): void {
    this.#running--;
  }

  /** Takes those out that are not wanted any more. */
  remove(ids: ReadonlySet<string>): void {
    for (const host of this.#hosts.values()) {
      for (const queue of host.queues) queue.remove(ids);
      this.#place(host);
      this.#restIfIdle(host);
    }
  }

  /** The worst standing of which one more may be tried; -1 when nobody may. */
  #worstWithRoom(): number {
    if (this.#running >= (this.#places[ANSWERING] ?? 0)) return -1;
    const [, unheard = 0, silent = 0] = this.#trying;
    if (unheard + silent >= (this.#places[UNHEARD] ?? 0)) return ANSWERING;
    return silent >= (this.#places[SILENT] ?? 0) ? UNHEARD : SILENT;
  }

  #count(host: Host<Item>, more: number): void {
    host.running += more;
    this.#trying[host.standing] = (this.#trying[host.standing] ?? 0) + more;
  }

  /** How a host stands is remembered when it has nothing to do, as long as they are not too many. */
  #restIfIdle(host: Host<Item>): void {
    if (host.running > 0 || host.queues.some((queue) => queue.length > 0)) return;
    this.#idle.add(host);
    if (this.#idle.size <= MAX_IDLE_HOSTS) return;
    const [oldest] = this.#idle;
    if (oldest === undefined) return;
    this.#idle.delete(oldest);
    this.#hosts.delete(oldest.name);
  }

  /** Puts the host where its next item belongs, at the end of the turn unless it is in it already. */
  #place(host: Host<Item>): void {
    const places = host.standing === ANSWERING ? this.#perHost : 1;
    const level = host.running < places ? host.queues.findIndex((queue) => queue.length > 0) : -1;
    const turn = level === -1 ? undefined : this.#ready[level]?.[host.standing];
    if (turn === host.turn) return;
    this.#unplace(host);
    turn?.add(host);
    host.turn = turn;
    host.placed = this.#placed++;
  }

  #unplace(host: Host<Item>): void {
    host.turn?.delete(host);
    host.turn = undefined;
  }
}

interface Host<Item extends Scheduled> {
  readonly name: string;
  running: number;
  standing: number;
  /** By priority. */
  readonly queues: readonly SenderTurns<Item>[];
  /** Where it waits for its turn. */
  turn: Set<Host<Item>> | undefined;
  /** How many had been given a turn before it. */
  placed: number;
}

/** Who waits longest, of those no worse than that. */
function firstOf<Item extends Scheduled>(turns: readonly Set<Host<Item>>[], worst: number): Host<Item> | undefined {
  let first: Host<Item> | undefined;
  for (let standing = 0; standing <= worst; standing += 1) {
    const host = turns[standing]?.values().next().value;
    if (host !== undefined && (first === undefined || host.placed < first.placed)) first = host;
  }
  return first;
}

function levelOf({ priority }: Scheduled): number {
  return Math.min(2, Math.max(0, priority));
}

/** What is known of a host, the best first, and the share of all places that it has with those after it. */
const STANDINGS = [{ share: 1 }, { share: 3 / 4 }, { share: 1 / 2 }];
/** It answered the last time; it was never heard of; it did not answer the last time. */
const [ANSWERING, UNHEARD, SILENT] = [0, 1, 2] as const;
const MAX_IDLE_HOSTS = 1000;
