/** A nonce as its agent used it. */
export interface NonceRow {
  readonly agentId: string;
  readonly nonce: string;
  /** The digest of the signed bytes: distinguishes a repeat from a second use. */
  readonly digest: string;
  /** Epoch milliseconds. */
  readonly usedAt: number;
}

/** `fresh`: never seen before · `same`: used before for the same bytes · `reused`: used before for other bytes. */
export type NonceUse = 'fresh' | 'same' | 'reused';

/** The used nonces. The nonce of a request is recorded with the request, in one commit (`RequestStore.accept`). */
export interface NonceStore {
  use(row: NonceRow): Promise<NonceUse>;
  /** The latest use of those that were purged; 0 when there was none. */
  forgotten(): Promise<number>;
  /** How many there are. */
  count(): Promise<number>;
  /**
   * Deletes those used before then, and records the latest use among them in the same commit: when the clock is set back, a
   * deleted nonce must not look new again. Returns how many.
   */
  purge(before: number): Promise<number>;
}
