import type { NonceRow, NonceUse } from '../nonces.ts';
import type { Database } from '../sqlite-engine.ts';

export const NONCE_TABLES = `
  CREATE TABLE nonces (
    agent_id TEXT NOT NULL,
    nonce TEXT NOT NULL,
    digest TEXT NOT NULL,
    used_at BIGINT NOT NULL,
    PRIMARY KEY (agent_id, nonce)
  );
  CREATE INDEX nonces_by_age ON nonces (used_at)
`;

export function nonceReads(database: Database) {
  const forgotten = database.prepare(`SELECT COALESCE(MAX(used_at), 0) AS "at" FROM nonces WHERE agent_id = ''`);
  const count = database.prepare(`SELECT COUNT(*) AS "count" FROM nonces WHERE agent_id <> ''`);

  return {
    forgottenNonce: (): number => (forgotten.get() as { at: number }).at,
    countNonces: (): number => (count.get() as { count: number }).count,
  };
}

export function nonceWrites(database: Database) {
  return { useNonce: prepareNonceUse(database) };
}

/** Prepares recording a nonce unless it exists. Accepting a signed request uses it, too. */
export function prepareNonceUse(database: Database): (row: NonceRow) => NonceUse {
  const insert = database.prepare(
    'INSERT INTO nonces (agent_id, nonce, digest, used_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const find = database.prepare('SELECT digest FROM nonces WHERE agent_id = ? AND nonce = ?');
  return ({ agentId, nonce, digest, usedAt }) => {
    if (insert.run(agentId, nonce, digest, usedAt).changes === 1) return 'fresh';
    const earlier = find.get(agentId, nonce) as Pick<NonceRow, 'digest'>;
    return earlier.digest === digest ? 'same' : 'reused';
  };
}

export function nonceRemovals(database: Database) {
  const purge = database.prepare("DELETE FROM nonces WHERE used_at < ? AND agent_id <> ''");
  // The row without an agent has the time of the latest use among all deleted nonces.
  const remember = database.prepare(`
    INSERT INTO nonces (agent_id, nonce, digest, used_at)
    SELECT '', '', '', MAX(used_at) FROM nonces WHERE used_at < ? HAVING COUNT(*) > 0
    ON CONFLICT (agent_id, nonce) DO UPDATE SET used_at = MAX(used_at, excluded.used_at)
  `);

  return {
    purgeNonces(before: number): number {
      remember.run(before);
      return Number(purge.run(before).changes);
    },
  };
}
