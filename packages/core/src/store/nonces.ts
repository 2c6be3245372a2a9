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
  /** The latest time at which one was used; 0 when there is none. */
  latest(): Promise<number>;
  /** Forgets those used before then. Returns how many. */
  purge(before: number): Promise<number>;
}
