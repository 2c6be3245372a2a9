/** How the owner of a record begins whose sender has no key. No agent's id does: it has a blank. */
export const ANONYMOUS = 'anonymous ';

/** Whether what is recorded belongs to an anonymous sender. Of a caller, `Principal.kind` says it. */
export function isAnonymousOwner(owner: string): boolean {
  return owner.startsWith(ANONYMOUS);
}

/** Which records of senders without a key are kept. */
export interface AnonymousRange {
  /** Of all of them together. */
  readonly keepBytes: number;
  /** Epoch milliseconds: older ones are removed in any case. */
  readonly before: number;
}

/** What senders without a key have left on the disk, as a whole. */
export interface AnonymousStore {
  /**
   * Keeps the newest and removes the rest: requests with their frames, callbacks, and URLs that are not called any more.
   * What is still under way stays, and counts. Returns how many bytes are left.
   */
  sweep(range: AnonymousRange): Promise<number>;
}

/** The kinds in the order they are swept, each with its part of the bytes that the kinds before it have left. */
export const ANONYMOUS_KINDS = [
  { kind: 'disabledUrls', share: 1 / 16 },
  { kind: 'deliveries', share: 1 / 4 },
  { kind: 'requests', share: 1 },
] as const;
export type AnonymousKind = (typeof ANONYMOUS_KINDS)[number]['kind'];

/** One record, for whoever decides whether it stays. */
export interface AnonymousRecord {
  readonly at: number;
  readonly bytes: number;
  /** Under way, or owed to somebody. */
  readonly isOpen: boolean;
}

/** Goes through records, the newest first: once one does not fit, no older one does. */
export class AnonymousRoom {
  used = 0;
  #room: number;
  readonly #before: number;

  constructor({ room, before }: { readonly room: number; readonly before: number }) {
    this.#room = room;
    this.#before = before;
  }

  get room(): number {
    return this.#room;
  }

  /** Whether the record stays. */
  keeps({ at, bytes, isOpen }: AnonymousRecord): boolean {
    const fits = at >= this.#before && bytes <= this.#room;
    this.#room = bytes <= this.#room ? this.#room - bytes : 0;
    if (!fits && !isOpen) return false;
    this.used += bytes;
    return true;
  }
}

/** What a record takes beside its texts: its row, its places in the indexes, and what belongs to it. */
export const RECORD_BYTES = 512;
