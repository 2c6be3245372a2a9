import type { NonceRow, NonceStore, NonceUse } from '../nonces.ts';
import { requireStorable } from '../storable.ts';
import type { PostgresDatabase, Queries } from './database.ts';
import { lockOwner } from './owner-lock.ts';

export function nonceStore(database: PostgresDatabase): NonceStore {
  return {
    use: (row) => database.write((queries) => useNonce(queries, row)),
    forgotten: async () => (await database.read.get<{ at: number }>(FORGOTTEN))?.at ?? 0,
    count: async () => (await database.read.get<{ count: number }>(COUNT))?.count ?? 0,
    purge: (before) =>
      database.write(async (queries) => {
        await lockOwner(queries, 'purge', 'nonces');
        await queries.run(REMEMBER, before);
        return queries.run("DELETE FROM nonces WHERE used_at < $1 AND agent_id <> ''", before);
      }),
  };
}

/** Records a nonce unless it is recorded already. Accepting a signed request does this in its own transaction. */
export async function useNonce(queries: Queries, row: NonceRow): Promise<NonceUse> {
  const { agentId, nonce, digest, usedAt } = row;
  requireStorable(agentId, nonce, digest);
  if ((await queries.run(INSERT, agentId, nonce, digest, usedAt)) === 1) return 'fresh';
  const earlier = await queries.get<Pick<NonceRow, 'digest'>>(FIND, agentId, nonce);
  return earlier?.digest === digest ? 'same' : 'reused';
}

const INSERT = 'INSERT INTO nonces (agent_id, nonce, digest, used_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING';
const FIND = 'SELECT digest FROM nonces WHERE agent_id = $1 AND nonce = $2';
const FORGOTTEN = `SELECT COALESCE(MAX(used_at), 0) AS at FROM nonces WHERE agent_id = ''`;
const COUNT = `SELECT COUNT(*) AS count FROM nonces WHERE agent_id <> ''`;
// The row without an agent keeps the time of the latest use that was deleted.
const REMEMBER = `
  INSERT INTO nonces (agent_id, nonce, digest, used_at)
  SELECT '', '', '', MAX(used_at) FROM nonces WHERE used_at < $1 HAVING COUNT(*) > 0
  ON CONFLICT (agent_id, nonce) DO UPDATE SET used_at = GREATEST(nonces.used_at, excluded.used_at)`;
