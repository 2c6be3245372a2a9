/** The prefix of owners of records whose sender has no key. It contains a blank, so no agent's id begins with it. */
export const ANONYMOUS = 'anonymous ';

/** Whether a record belongs to an anonymous sender. For a caller, use `Principal.kind`. */
export function isAnonymousOwner(owner: string): boolean {
  return owner.startsWith(ANONYMOUS);
}

/** The limits on the records of senders without a key. */
export interface AnonymousRange {
  /** How many bytes are kept of all records together. */
  readonly keepBytes: number;
  /** Epoch milliseconds: older ones are removed in any case. */
  readonly before: number;
}

/** The records of all senders without a key. */
export interface AnonymousStore {
  /**
   * Keeps the newest and removes the rest: requests with their frames, callbacks, and disabled callback URLs.
   * Open records are kept, and count. Returns how many bytes are left.
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

/** One record, as input for the decision to keep it. */
export interface AnonymousRecord {
  readonly at: number;
  readonly bytes: number;
  /** Whether it has not ended, or its answer is still to be delivered. */
  readonly isOpen: boolean;
}

/** Decides, from the newest record on, which ones are kept. Once a record does not fit, no older one does. */
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

  keeps({ at, bytes, isOpen }: AnonymousRecord): boolean {
    const fits = at >= this.#before && bytes <= this.#room;
    this.#room = bytes <= this.#room ? this.#room - bytes : 0;
    if (!fits && !isOpen) return false;
    this.used += bytes;
    return true;
  }
}

/** The assumed size of a record without its texts: its row, its index entries, and its dependent rows. */
export const RECORD_BYTES = 512;
