/**
 * How much is read and held for peers that have not proven who they are: so many bytes of one message, and so many of all of them
 * together, at every endpoint.
 */
export class UnprovenBudget {
  /** The most that is read of one body, line or message. */
  readonly messageBytes: number;
  readonly #totalBytes: number;
  #heldBytes = 0;

  constructor({ messageBytes = MESSAGE_BYTES, totalBytes = TOTAL_BYTES }: UnprovenLimits = {}) {
    this.messageBytes = messageBytes;
    this.#totalBytes = totalBytes;
  }

  /** What is held now, for all peers. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** The part of one peer. It must be released when the peer is proven or gone. */
  hold(): HeldBytes {
    let held = 0;
    let isReleased = false;
    return {
      set: (bytes) => {
        if (isReleased) return true;
        if (bytes > held && this.#heldBytes + bytes - held > this.#totalBytes) return false;
        this.#heldBytes += bytes - held;
        held = bytes;
        return true;
      },
      release: () => {
        isReleased = true;
        this.#heldBytes -= held;
        held = 0;
      },
    };
  }
}

export interface UnprovenLimits {
  readonly messageBytes?: number;
  readonly totalBytes?: number;
}

export interface HeldBytes {
  /** This many are held for the peer from now on. `false`: the budget has no room for them, and nothing changes. */
  set(bytes: number): boolean;
  /** Nothing counts against the budget from now on. */
  release(): void;
}

export const MESSAGE_BYTES = 64 * 1024;
export const TOTAL_BYTES = 64 * 1024 * 1024;
