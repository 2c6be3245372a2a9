/** What waits for its turn. */
export interface Scheduled {
  readonly id: string;
  /** Host and port of the receiver. */
  readonly host: string;
  /** 0 goes first, 2 last. */
  readonly priority: number;
}

/**
 * Whose turn it is. Hosts take turns, so that one with a thousand callbacks keeps nobody waiting; among those of one host,
 * and among hosts, the urgent go first. A host has a few places, and only one while it does not answer: a dead one holds up
 * its own callbacks and no others.
 */
export class Schedule<Item extends Scheduled> {
  readonly #perHost: number;
  readonly #total: number;
  readonly #hosts = new Map<string, Host<Item>>();
  /** By the priority of what they have to send next: hosts with something to send and a place to send it from, in turn. */
  readonly #ready: readonly Set<Host<Item>>[] = [new Set(), new Set(), new Set()];
  #running = 0;

  constructor({ perHost, total }: { perHost: number; total: number }) {
    this.#perHost = perHost;
    this.#total = total;
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
      host = { name: item.host, running: 0, places: this.#perHost, queues: [[], [], []], turn: undefined };
      this.#hosts.set(item.host, host);
    }
    host.queues[levelOf(item)]?.push(item);
    this.#place(host);
  }

  /** The next one, which now has a place at its host and one among all; `undefined` when nobody's turn has come. */
  next(): Item | undefined {
    if (this.#running >= this.#total) return undefined;
    for (const turn of this.#ready) {
      const [host] = turn;
      if (host === undefined) continue;
      const item = host.queues.find((queue) => queue.length > 0)?.shift();
      host.running++;
      this.#running++;
      // Behind all others, for its next turn.
      this.#unplace(host);
      this.#place(host);
      return item;
    }
    return undefined;
  }

  /**
   * Gives the place at the host back. `answered`: whether it did; one that did not gets a single place until it does.
   * `undefined`: nobody asked it.
   */
  leave(name: string, { answered }: { answered: boolean | undefined }): void {
    const host = this.#hosts.get(name);
    if (host === undefined) return;
    host.running--;
    if (answered !== undefined) host.places = answered ? this.#perHost : 1;
    this.#place(host);
    const isIdle = host.running === 0 && host.queues.every((queue) => queue.length === 0);
    // One that does not answer is remembered, as long as they are not too many.
    if (isIdle && (host.places > 1 || this.#hosts.size > MAX_IDLE_HOSTS)) this.#hosts.delete(name);
  }

  /** Gives the place among all back. */
  release(): void {
    this.#running--;
  }

  /** Takes those out that are not wanted any more. */
  remove(ids: ReadonlySet<string>): void {
    for (const host of this.#hosts.values()) {
      for (const [level, queue] of host.queues.entries()) {
        if (queue.some(({ id }) => ids.has(id))) host.queues[level] = queue.filter(({ id }) => !ids.has(id));
      }
      this.#place(host);
    }
  }

  /** Puts the host where its next item belongs, at the end of the turn unless it is in it already. */
  #place(host: Host<Item>): void {
    const level = host.running < host.places ? host.queues.findIndex((queue) => queue.length > 0) : -1;
    const turn = level === -1 ? undefined : this.#ready[level];
    if (turn === host.turn) return;
    this.#unplace(host);
    turn?.add(host);
    host.turn = turn;
  }

  #unplace(host: Host<Item>): void {
    host.turn?.delete(host);
    host.turn = undefined;
  }
}

interface Host<Item> {
  readonly name: string;
  running: number;
  places: number;
  /** By priority. */
  readonly queues: Item[][];
  /** Where it waits for its turn. */
  turn: Set<Host<Item>> | undefined;
}

function levelOf({ priority }: Scheduled): number {
  return Math.min(2, Math.max(0, priority));
}

const MAX_IDLE_HOSTS = 1000;
