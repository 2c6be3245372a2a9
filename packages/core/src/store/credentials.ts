/** A sealed secret. Everything that it is bound to is readable. */
export interface CredentialRow {
  readonly credentialId: string;
  /** Counts over the whole vault: every secret that is put, even under an existing id, has a new version. */
  readonly version: number;
  readonly type: string;
  /** A list as JSON text. */
  readonly hosts: string;
  /** A list as JSON text. */
  readonly places: string;
  readonly description: string | null;
  /** Base64. */
  readonly nonce: string;
  readonly sealed: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Authenticates the set of all rows, so that no row can be replaced by an older one. */
export interface VaultSeal {
  readonly salt: string;
  /** Distinguishes the vault key from a wrong one. */
  readonly keyCheck: string;
  /** The list of all rows, as JSON text. */
  readonly manifest: string;
  /** The authentication code of the manifest. */
  readonly mac: string;
}

/** Records that a secret was used, or refused. */
export interface ReceiptRow {
  readonly at: number;
  readonly caller: string;
  readonly credentialId: string;
  readonly version: number;
  readonly host: string;
  /** The request or operation that used it. */
  readonly purpose: string | null;
  readonly outcome: 'released' | 'damaged' | 'refused';
}

export interface CredentialStore {
  list(): Promise<CredentialRow[]>;
  seal(): Promise<VaultSeal | undefined>;
  /**
   * Writes rows and the new seal over all rows, in one commit. `previous` is the `mac` of the seal that it replaces,
   * null for the first one. Returns false and changes nothing when the stored seal is another one.
   */
  put(rows: readonly CredentialRow[], seal: VaultSeal, previous: string | null): Promise<boolean>;
  /** Deletes a row and writes the new seal, with the same condition as `put`. */
  remove(credentialId: string, seal: VaultSeal, previous: string | null): Promise<boolean>;
  addReceipts(rows: readonly ReceiptRow[]): Promise<void>;
  /** Newest first. */
  receipts(credentialId: string, limit: number): Promise<ReceiptRow[]>;
  /** Deletes the receipts from before a time. */
  purgeReceipts(before: number): Promise<void>;
}
