export interface NonceRow {
  readonly agentId: string;
  readonly nonce: string;
  /** The digest of the signed bytes, which distinguishes a repeat from a second use. */
  readonly digest: string;
  /** Epoch milliseconds. */
  readonly usedAt: number;
}

/** `fresh`: never seen before · `same`: used before for the same bytes · `reused`: used before for other bytes. */
export type NonceUse = 'fresh' | 'same' | 'reused';

/** The used nonces. `RequestStore.accept` records the nonce of a request in the same commit as the request. */
export interface NonceStore {
  use(row: NonceRow): Promise<NonceUse>;
  /** The time of the latest use among all purged nonces; 0 when none was purged. */
  forgotten(): Promise<number>;
  count(): Promise<number>;
  /**
   * Deletes the nonces used before a time and records, in the same commit, the latest use among them: after the clock
   * is set back, a deleted nonce must not look new. Returns how many.
   */
  purge(before: number): Promise<number>;
}
