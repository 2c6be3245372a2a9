/** A nonce as its agent used it. */
export interface NonceRow {
  readonly agentId: string;
  readonly nonce: string;
  /** Of the signed bytes: tells a replay from a second use. */
  readonly digest: string;
  /** Epoch milliseconds. */
  readonly usedAt: number;
}

/** `fresh`: never seen before · `same`: these very bytes came before · `reused`: other bytes had it. */
export type NonceUse = 'fresh' | 'same' | 'reused';

/** Which nonces were used. That of a request is recorded with the request, in one commit (`RequestStore.accept`). */
export interface NonceStore {
  use(row: NonceRow): Promise<NonceUse>;
  /** The latest use of those that were purged; 0 when there was none. */
  forgotten(): Promise<number>;
  /** How many there are. */
  count(): Promise<number>;
  /**
   * Forgets those used before then, and remembers the latest use among them in the same commit: when the clock is set back, what
   * was forgotten must not look new again. Returns how many.
   */
  purge(before: number): Promise<number>;
}
