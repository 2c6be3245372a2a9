import type { CredentialRow, ReceiptRow, VaultSeal } from '../credentials.ts';
import type { Database } from '../sqlite-engine.ts';
import { requireStorable } from '../storable.ts';

export const CREDENTIALS_MIGRATION = `
  CREATE TABLE credentials (
    credential_id TEXT PRIMARY KEY,
    version BIGINT NOT NULL,
    type TEXT NOT NULL,
    hosts TEXT NOT NULL,
    places TEXT NOT NULL,
    description TEXT,
    nonce TEXT NOT NULL,
    sealed TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
  );

  CREATE TABLE vault_seal (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    salt TEXT NOT NULL,
    key_check TEXT NOT NULL,
    manifest TEXT NOT NULL,
    mac TEXT NOT NULL
  );

  CREATE TABLE credential_receipts (
    id INTEGER PRIMARY KEY,
    used_at BIGINT NOT NULL,
    caller TEXT NOT NULL,
    credential_id TEXT NOT NULL,
    version BIGINT NOT NULL,
    host TEXT NOT NULL,
    purpose TEXT,
    outcome TEXT NOT NULL
  );
  CREATE INDEX credential_receipts_by_credential ON credential_receipts (credential_id, id);
  CREATE INDEX credential_receipts_by_time ON credential_receipts (used_at)
  `;

export function credentialReads(database: Database) {
  const list = database.prepare(`
    SELECT credential_id AS "credentialId", version, type, hosts, places, description, nonce, sealed,
      created_at AS "createdAt", updated_at AS "updatedAt"
    FROM credentials ORDER BY credential_id`);
  const seal = database.prepare('SELECT salt, key_check AS "keyCheck", manifest, mac FROM vault_seal WHERE id = 1');
  const receipts = database.prepare(`
    SELECT used_at AS at, caller, credential_id AS "credentialId", version, host, purpose, outcome
    FROM credential_receipts WHERE credential_id = ? ORDER BY id DESC LIMIT ?`);

  return {
    listCredentials: (): CredentialRow[] => list.all() as CredentialRow[],
    vaultSeal: (): VaultSeal | undefined => seal.get() as VaultSeal | undefined,
    listReceipts: (credentialId: string, limit: number): ReceiptRow[] =>
      receipts.all(credentialId, limit) as ReceiptRow[],
  };
}

export function credentialWrites(database: Database) {
  const put = database.prepare(`
    INSERT INTO credentials (credential_id, version, type, hosts, places, description, nonce, sealed, created_at, updated_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (credential_id) DO UPDATE SET version = excluded.version, type = excluded.type, hosts = excluded.hosts,
      places = excluded.places, description = excluded.description, nonce = excluded.nonce, sealed = excluded.sealed,
      created_at = excluded.created_at, updated_at = excluded.updated_at`);
  const putSeal = sealing(database);
  const addReceipt = database.prepare(`
    INSERT INTO credential_receipts (used_at, caller, credential_id, version, host, purpose, outcome)
    VALUES (?, ?, ?, ?, ?, ?, ?)`);

  return {
    putCredentials(rows: readonly CredentialRow[], seal: VaultSeal, previous: string | null): boolean {
      if (!putSeal(seal, previous)) return false;
      for (const row of rows) {
        const { credentialId, version, type, hosts, places, description, nonce, sealed, createdAt, updatedAt } = row;
        requireStorable(credentialId, description);
        put.run(credentialId, version, type, hosts, places, description, nonce, sealed, createdAt, updatedAt);
      }
      return true;
    },
    addReceipts(rows: readonly ReceiptRow[]): void {
      for (const { at, caller, credentialId, version, host, purpose, outcome } of rows) {
        requireStorable(caller, host, purpose);
        addReceipt.run(at, caller, credentialId, version, host, purpose, outcome);
      }
    },
  };
}

/** Deleting a secret must work on a full disk too. */
export function credentialRemovals(database: Database) {
  const remove = database.prepare('DELETE FROM credentials WHERE credential_id = ?');
  const purge = database.prepare('DELETE FROM credential_receipts WHERE used_at < ?');
  const putSeal = sealing(database);

  return {
    removeCredential(credentialId: string, seal: VaultSeal, previous: string | null): boolean {
      if (!putSeal(seal, previous)) return false;
      remove.run(credentialId);
      return true;
    },
    purgeReceipts(before: number): void {
      purge.run(before);
    },
  };
}

/** Prepares replacing the seal whose `mac` is `previous`. The result is false when the stored seal is another one. */
function sealing(database: Database): (seal: VaultSeal, previous: string | null) => boolean {
  const first = database.prepare(
    'INSERT INTO vault_seal (id, salt, key_check, manifest, mac) VALUES (1, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING',
  );
  const next = database.prepare(
    'UPDATE vault_seal SET salt = ?, key_check = ?, manifest = ?, mac = ? WHERE id = 1 AND mac = ?',
  );
  return ({ salt, keyCheck, manifest, mac }, previous) => {
    const values = [salt, keyCheck, manifest, mac];
    return (previous === null ? first.run(...values) : next.run(...values, previous)).changes === 1;
  };
}
