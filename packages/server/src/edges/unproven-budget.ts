import { addressGroup } from './address.ts';

/**
 * Limits what is read and held for peers without a proven identity, at every endpoint: the bytes of one message, and
 * the bytes of all their messages together. One address may hold a quarter of the total, so that it cannot shut out the
 * others.
 */
export class UnprovenBudget {
  /** The most that is read of one body, line or message. */
  readonly messageBytes: number;
  readonly #totalBytes: number;
  readonly #shareBytes: number;
  /** Only addresses that hold bytes, because the number of addresses is unbounded. */
  readonly #byAddress = new Map<string, number>();
  #heldBytes = 0;

  constructor({ messageBytes = UNPROVEN_MESSAGE_BYTES, totalBytes = UNPROVEN_TOTAL_BYTES }: UnprovenLimits = {}) {
    this.messageBytes = messageBytes;
    this.#totalBytes = totalBytes;
    this.#shareBytes = Math.max(messageBytes, totalBytes / 4);
  }

  /** The bytes held now, for all peers. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** The part of one peer. It must be released when the peer is proven or gone. */
  hold(address: string): HeldBytes {
    const group = addressGroup(address);
    let held = 0;
    let isReleased = false;
    return {
      set: (bytes) => {
        if (isReleased) return true;
        if (bytes > held && !this.#hasRoom(group, bytes - held)) return false;
        this.#add(group, bytes - held);
        held = bytes;
        return true;
      },
      release: () => {
        isReleased = true;
        this.#add(group, -held);
        held = 0;
      },
    };
  }

  #hasRoom(group: string, bytes: number): boolean {
    const ofAddress = this.#byAddress.get(group) ?? 0;
    return this.#heldBytes + bytes <= this.#totalBytes && ofAddress + bytes <= this.#shareBytes;
  }

  #add(group: string, bytes: number): void {
    this.#heldBytes += bytes;
    const ofAddress = (this.#byAddress.get(group) ?? 0) + bytes;
    if (ofAddress === 0) this.#byAddress.delete(group);
    else this.#byAddress.set(group, ofAddress);
  }
}

export interface UnprovenLimits {
  readonly messageBytes?: number;
  readonly totalBytes?: number;
}

export interface HeldBytes {
  /**
   * Sets the number of bytes held for the peer. Returns `false` and changes nothing if the budget has no room for them.
   */
  set(bytes: number): boolean;
  /** Returns the bytes to the budget. Later calls of `set` hold nothing. */
  release(): void;
}

export const UNPROVEN_MESSAGE_BYTES = 64 * 1024;
export const UNPROVEN_TOTAL_BYTES = 64 * 1024 * 1024;
