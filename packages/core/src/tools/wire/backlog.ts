import type { WireRequest } from './wire-request.ts';

/** Characters that all connections of a host together may have waiting. */
export class BacklogRoom {
  #left: number;

  constructor(characters = ALL_TOGETHER) {
    this.#left = characters;
  }

  take(characters: number): boolean {
    if (characters > this.#left) return false;
    this.#left -= characters;
    return true;
  }

  giveBack(characters: number): void {
    this.#left += characters;
  }
}

/**
 * What the requests of one connection have told and their peer has not read: each request's own in order, and some of every
 * request in turn.
 */
export class Backlog {
  readonly #room: BacklogRoom;
  readonly #waiting = new Map<WireRequest, string[]>();
  #characters = 0;

  constructor(room: BacklogRoom) {
    this.#room = room;
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  has(request: WireRequest): boolean {
    return this.#waiting.has(request);
  }

  /** `false` when there is no room for it. */
  add(request: WireRequest, text: string): boolean {
    const { length } = text;
    if (this.#characters + length > MOST_WAITING || !this.#room.take(length)) return false;
    this.#characters += length;
    const texts = this.#waiting.get(request);
    if (texts === undefined) this.#waiting.set(request, [text]);
    else texts.push(text);
    return true;
  }

  /** The next, and whose it is; behind it the others have their turn. */
  shift(): { readonly request: WireRequest; readonly text: string } | undefined {
    for (const [request, texts] of this.#waiting) {
      const text = texts.shift() ?? '';
      this.#waiting.delete(request);
      if (texts.length > 0) this.#waiting.set(request, texts);
      this.#gone(text.length);
      return { request, text };
    }
    return undefined;
  }

  /** Nobody is to hear the rest of it. */
  drop(request: WireRequest): void {
    const texts = this.#waiting.get(request);
    if (texts === undefined) return;
    this.#waiting.delete(request);
    for (const { length } of texts) this.#gone(length);
  }

  clear(): void {
    this.#waiting.clear();
    this.#gone(this.#characters);
  }

  #gone(characters: number): void {
    this.#characters -= characters;
    this.#room.giveBack(characters);
  }
}

/** Of one connection: room for what a tool may well make at once, which nobody can read before it is made. */
export const MOST_WAITING = 64 * 1024 * 1024;
const ALL_TOGETHER = 4 * MOST_WAITING;
