import type { WireRequest } from './wire-request.ts';

/**
 * Limits the characters that wait on all connections of a host together. A caller may hold at most as many as remain
 * for the others, so that there is always room for one more caller.
 */
export class BacklogRoom {
  readonly #held = new Map<string, number>();
  #left: number;

  constructor(characters = ALL_TOGETHER) {
    this.#left = characters;
  }

  take(caller: string, characters: number): boolean {
    const held = (this.#held.get(caller) ?? 0) + characters;
    if (held > this.#left - characters) return false;
    this.#held.set(caller, held);
    this.#left -= characters;
    return true;
  }

  giveBack(caller: string, characters: number): void {
    const held = (this.#held.get(caller) ?? 0) - characters;
    if (held > 0) this.#held.set(caller, held);
    else this.#held.delete(caller);
    this.#left += characters;
  }
}

/** The unread events of one connection's requests. Those of each request stay in order; the requests take turns. */
export class Backlog {
  readonly #room: BacklogRoom;
  readonly #waiting = new Map<WireRequest, Texts>();
  #characters = 0;
  /** The caller, always the same on this connection. */
  #caller = '';

  constructor(room: BacklogRoom) {
    this.#room = room;
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  has(request: WireRequest): boolean {
    return this.#waiting.has(request);
  }

  /** False if there is no room for the event. */
  add(request: WireRequest, text: string): boolean {
    const { length } = text;
    if (this.isEmpty) this.#caller = request.session.principal.id;
    if (this.#characters + length > MOST_WAITING || !this.#room.take(this.#caller, length)) return false;
    this.#characters += length;
    const texts = this.#waiting.get(request);
    if (texts === undefined) this.#waiting.set(request, { texts: [text], next: 0 });
    else texts.texts.push(text);
    return true;
  }

  /** Removes the next event. After it, the other requests have their turn. */
  shift(): { readonly request: WireRequest; readonly text: string } | undefined {
    for (const [request, waiting] of this.#waiting) {
      const text = waiting.texts[waiting.next] ?? '';
      // Not by `Array.shift`, which would move possibly hundreds of thousands of others.
      waiting.texts[waiting.next] = '';
      waiting.next += 1;
      this.#waiting.delete(request);
      if (waiting.next < waiting.texts.length) this.#waiting.set(request, waiting);
      this.#gone(text.length);
      return { request, text };
    }
    return undefined;
  }

  /** Drops the remaining events of a request. */
  drop(request: WireRequest): void {
    const waiting = this.#waiting.get(request);
    if (waiting === undefined) return;
    this.#waiting.delete(request);
    for (const { length } of waiting.texts) this.#gone(length);
  }

  clear(): void {
    this.#waiting.clear();
    this.#gone(this.#characters);
  }

  #gone(characters: number): void {
    this.#characters -= characters;
    this.#room.giveBack(this.#caller, characters);
  }
}

/** The events of one request. Those before `next` are sent and empty. */
interface Texts {
  readonly texts: string[];
  next: number;
}

/** Characters of one connection: enough for the events that a tool may emit without waiting. */
export const MOST_WAITING = 64 * 1024 * 1024;
const ALL_TOGETHER = 4 * MOST_WAITING;
