import type { CredentialRow, CredentialStore, ReceiptRow, VaultSeal } from '../credentials.ts';
import { requireStorable } from '../storable.ts';
import { bigints, texts } from './arrays.ts';
import type { PostgresDatabase, Queries } from './database.ts';
import type { PostgresFamilies } from './families.ts';

export function credentialStore(database: PostgresDatabase, families: PostgresFamilies): CredentialStore {
  const { read } = database;
  return {
    list: () => read.all<CredentialRow>(LIST),
    seal: () => read.get<VaultSeal>(SEAL),

    put: async (rows, seal, previous) => {
      for (const { credentialId, description } of rows) requireStorable(credentialId, description);
      return families.change('credentials', async (queries) => {
        if (!(await putSeal(queries, seal, previous))) return false;
        for (const row of rows) {
          const { credentialId, version, type, hosts, places, description, nonce, sealed, createdAt, updatedAt } = row;
          const values = [credentialId, version, type, hosts, places, description, nonce, sealed, createdAt, updatedAt];
          await queries.run(PUT, ...values);
        }
        return true;
      });
    },

    remove: (credentialId, seal, previous) =>
      families.change('credentials', async (queries) => {
        if (!(await putSeal(queries, seal, previous))) return false;
        await queries.run('DELETE FROM credentials WHERE credential_id = $1', credentialId);
        return true;
      }),

    addReceipts: async (rows) => {
      for (const { caller, host, purpose } of rows) requireStorable(caller, host, purpose);
      await database.write((queries) =>
        queries.run(
          ADD_RECEIPTS,
          bigints(rows.map(({ at }) => at)),
          texts(rows.map(({ caller }) => caller)),
          texts(rows.map(({ credentialId }) => credentialId)),
          bigints(rows.map(({ version }) => version)),
          texts(rows.map(({ host }) => host)),
          texts(rows.map(({ purpose }) => purpose)),
          texts(rows.map(({ outcome }) => outcome)),
        ),
      );
    },

    receipts: (credentialId, limit) => read.all<ReceiptRow>(RECEIPTS, credentialId, limit),

    purgeReceipts: async (before) => {
      await database.write((queries) => queries.run('DELETE FROM credential_receipts WHERE used_at < $1', before));
    },
  };
}

/** Replaces the seal whose MAC is `previous`, or adds the first seal. False when another process was first. */
async function putSeal(
  queries: Queries,
  { salt, keyCheck, manifest, mac }: VaultSeal,
  previous: string | null,
): Promise<boolean> {
  const text = previous === null ? FIRST_SEAL : NEXT_SEAL;
  const values = previous === null ? [] : [previous];
  return (await queries.run(text, salt, keyCheck, manifest, mac, ...values)) === 1;
}

const LIST = `
  SELECT credential_id AS "credentialId", version, type, hosts, places, description, nonce, sealed,
    created_at AS "createdAt", updated_at AS "updatedAt"
  FROM credentials ORDER BY credential_id`;
const SEAL = 'SELECT salt, key_check AS "keyCheck", manifest, mac FROM vault_seal WHERE id = 1';
const PUT = `
  INSERT INTO credentials (credential_id, version, type, hosts, places, description, nonce, sealed, created_at, updated_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
  ON CONFLICT (credential_id) DO UPDATE SET version = excluded.version, type = excluded.type, hosts = excluded.hosts,
    places = excluded.places, description = excluded.description, nonce = excluded.nonce, sealed = excluded.sealed,
    created_at = excluded.created_at, updated_at = excluded.updated_at`;
const FIRST_SEAL = `
  INSERT INTO vault_seal (id, salt, key_check, manifest, mac) VALUES (1, $1, $2, $3, $4) ON CONFLICT (id) DO NOTHING`;
const NEXT_SEAL = 'UPDATE vault_seal SET salt = $1, key_check = $2, manifest = $3, mac = $4 WHERE id = 1 AND mac = $5';
const ADD_RECEIPTS = `
  INSERT INTO credential_receipts (used_at, caller, credential_id, version, host, purpose, outcome)
  SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::text[])`;
const RECEIPTS = `
  SELECT used_at AS at, caller, credential_id AS "credentialId", version, host, purpose, outcome
  FROM credential_receipts WHERE credential_id = $1 ORDER BY id DESC LIMIT $2`;
