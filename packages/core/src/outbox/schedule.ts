import { SenderTurns } from './sender-turns.ts';

/** A callback that waits for its turn. */
export interface Scheduled {
  readonly id: string;
  /** The principal on whose behalf it is sent. */
  readonly owner: string;
  /** The host of the receiver, without the port. */
  readonly host: string;
  /** 0 goes first, 2 last. */
  readonly priority: number;
}

/**
 * Decides which callback is sent next. Hosts take turns, and so do the senders at one host, so that a thousand
 * callbacks of one do not delay the others; urgent callbacks go first. A host has several places while it answers, and
 * one before its first answer and while it does not answer, so a dead host delays only its own callbacks. Hosts that do
 * not answer have at most half of all places; together with unknown hosts, three quarters.
 */
export class Schedule<Item extends Scheduled> {
  readonly #perHost: number;
  /** By standing: how many places the hosts of this standing and of the worse ones may have together. */
  readonly #places: readonly number[];
  readonly #hosts = new Map<string, Host<Item>>();
  /** Hosts without callbacks, whose standing is remembered; the longest idle first. */
  readonly #idle = new Set<Host<Item>>();
  /**
   * Hosts with a waiting callback and a free place, in the order of their turns; by the priority of that callback, then
   * by standing.
   */
  readonly #ready: readonly (readonly Set<Host<Item>>[])[] = [0, 1, 2].map(() => STANDINGS.map(() => new Set()));
  /** By standing: how many callbacks are being tried. */
  readonly #trying = STANDINGS.map(() => 0);
  #running = 0;
  #placed = 0;

  constructor({ perHost, total }: { perHost: number; total: number }) {
    this.#perHost = perHost;
    this.#places = STANDINGS.map(({ share }) => Math.ceil(total * share));
  }

  /** How many callbacks wait. */
  get size(): number {
    let size = 0;
    for (const host of this.#hosts.values()) for (const queue of host.queues) size += queue.length;
    return size;
  }

  add(item: Item): void {
    let host = this.#hosts.get(item.host);
    if (host === undefined) {
      const queues = [0, 1, 2].map(() => new SenderTurns<Item>());
      host = { name: item.host, running: 0, standing: UNKNOWN, queues, turn: undefined, placed: 0 };
      this.#hosts.set(item.host, host);
    }
    this.#idle.delete(host);
    host.queues[levelOf(item)]?.push(item);
    this.#place(host);
  }

  /** The next callback, which takes a place at its host and one of all; `undefined` when none may be tried. */
  next(): Item | undefined {
    const worst = this.#worstWithRoom();
    for (const turns of this.#ready) {
      const host = firstOf(turns, worst);
      if (host === undefined) continue;
      const item = host.queues.find((queue) => queue.length > 0)?.shift();
      this.#count(host, 1);
      this.#running++;
      // Puts the host behind all others for its next turn.
      this.#unplace(host);
      this.#place(host);
      return item;
    }
    return undefined;
  }

  /** The callbacks of an answering host that follow those for which it has places now; empty when only a few wait. */
  following(name: string): readonly Item[] {
    const host = this.#hosts.get(name);
    if (host?.standing !== ANSWERING) return [];
    const queue = host.queues.find((one) => one.length > 0);
    return queue?.slice(this.#perHost - 1, 2 * this.#perHost - 1) ?? [];
  }

  /** Frees a place at a host. `answered`: whether the host answered; `undefined` when no request was sent. */
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

  /** Frees one of all places. */
  release(): void {
    this.#running--;
  }

  remove(ids: ReadonlySet<string>): void {
    for (const host of this.#hosts.values()) {
      for (const queue of host.queues) queue.remove(ids);
      this.#place(host);
      this.#restIfIdle(host);
    }
  }

  /** The worst standing of which a host may get another place; -1 when no place is free. */
  #worstWithRoom(): number {
    if (this.#running >= (this.#places[ANSWERING] ?? 0)) return -1;
    const [, unknown = 0, silent = 0] = this.#trying;
    if (unknown + silent >= (this.#places[UNKNOWN] ?? 0)) return ANSWERING;
    return silent >= (this.#places[SILENT] ?? 0) ? UNKNOWN : SILENT;
  }

  #count(host: Host<Item>, more: number): void {
    host.running += more;
    this.#trying[host.standing] = (this.#trying[host.standing] ?? 0) + more;
  }

  /** Remembers the standing of an idle host. The number of such hosts is limited. */
  #restIfIdle(host: Host<Item>): void {
    if (host.running > 0 || host.queues.some((queue) => queue.length > 0)) return;
    this.#idle.add(host);
    if (this.#idle.size <= MAX_IDLE_HOSTS) return;
    const [oldest] = this.#idle;
    if (oldest === undefined) return;
    this.#idle.delete(oldest);
    this.#hosts.delete(oldest.name);
  }

  /** Puts the host at the end of the turn to which its next item belongs, unless it is in that turn already. */
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
  /** The waiting callbacks, by priority. */
  readonly queues: readonly SenderTurns<Item>[];
  /** The set in which it waits for its turn. */
  turn: Set<Host<Item>> | undefined;
  /** Increases with every entry into a turn: a host with a lower number has waited longer. */
  placed: number;
}

/** The host that has waited longest, among those whose standing is `worst` or better. */
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

/**
 * The standings of hosts, the best first. `share` is the part of all places for this standing and the worse ones
 * together.
 */
const STANDINGS = [{ share: 1 }, { share: 3 / 4 }, { share: 1 / 2 }];
/** It answered the last time; it was never tried; it did not answer the last time. */
const [ANSWERING, UNKNOWN, SILENT] = [0, 1, 2] as const;
const MAX_IDLE_HOSTS = 1000;
