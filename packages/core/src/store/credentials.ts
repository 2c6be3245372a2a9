/** A secret as it is kept: sealed, with everything it is bound to in the open. */
export interface CredentialRow {
  readonly credentialId: string;
  /** Grows over the whole vault: no two secrets, not even of one id, ever have the same. */
  readonly version: number;
  readonly type: string;
  /** JSON text of a list. */
  readonly hosts: string;
  readonly places: string;
  readonly description: string | null;
  /** Base64. */
  readonly nonce: string;
  readonly sealed: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Binds the rows together, so that none can be replaced by an older one. */
export interface VaultSeal {
  readonly salt: string;
  /** Tells the right key from a wrong one. */
  readonly keyCheck: string;
  /** Which rows there are, as JSON text. */
  readonly manifest: string;
  /** Of the manifest. */
  readonly mac: string;
}

/** Records that a secret was used, or refused. */
export interface ReceiptRow {
  readonly at: number;
  readonly caller: string;
  readonly credentialId: string;
  readonly version: number;
  readonly host: string;
  /** The request or operation it was for. */
  readonly purpose: string | null;
  readonly outcome: 'released' | 'damaged' | 'refused';
}

export interface CredentialStore {
  list(): Promise<CredentialRow[]>;
  seal(): Promise<VaultSeal | undefined>;
  /**
   * Writes rows and the new seal over all rows, in one commit. `previous` is the `mac` of the seal it takes the place of, null for
   * the first. False, and nothing is changed, when another seal is there.
   */
  put(rows: readonly CredentialRow[], seal: VaultSeal, previous: string | null): Promise<boolean>;
  /** The same. */
  remove(credentialId: string, seal: VaultSeal, previous: string | null): Promise<boolean>;
  addReceipts(rows: readonly ReceiptRow[]): Promise<void>;
  /** Newest first. */
  receipts(credentialId: string, limit: number): Promise<ReceiptRow[]>;
  /** Forgets those of before then. */
  purgeReceipts(before: number): Promise<void>;
}
