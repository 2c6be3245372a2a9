import type { PushAdvance, PushConfig, PushConfigRow } from '../push-configs.ts';
import type { Database } from '../sqlite-engine.ts';
import { requireStorable } from '../storable.ts';
import type { RequestKey } from '../store.ts';
import { epochOf } from './commits.ts';
import { outboxWrites } from './outbox.ts';

export const PUSH_CONFIG_TABLES = `
  CREATE TABLE push_configs (
    name TEXT PRIMARY KEY,
    request INTEGER NOT NULL REFERENCES requests (id) ON DELETE CASCADE,
    config_id TEXT NOT NULL,
    url TEXT NOT NULL,
    version TEXT NOT NULL,
    secrets TEXT,
    created_at BIGINT NOT NULL,
    position TEXT NOT NULL,
    is_over INTEGER NOT NULL,
    UNIQUE (request, config_id)
  );
  CREATE INDEX push_configs_unfinished ON push_configs (created_at) WHERE is_over = 0
  `;

export function pushConfigReads(database: Database) {
  const one = database.prepare(`${SELECT} WHERE r.owner = ? AND r.request_id = ? AND p.config_id = ?`);
  const all = database.prepare(`${SELECT} WHERE r.owner = ? AND r.request_id = ? ORDER BY p.created_at, p.name`);
  const byName = database.prepare(`${SELECT} WHERE p.name = ?`);

  return {
    findPushConfig({ owner, requestId }: RequestKey, configId: string): PushConfigRow | undefined {
      return rowOf(one.get(owner, requestId, configId));
    },
    listPushConfigs: ({ owner, requestId }: RequestKey): PushConfigRow[] => rowsOf(all.all(owner, requestId)),
    pushConfigNamed: (name: string): PushConfigRow | undefined => rowOf(byName.get(name)),
  };
}

export function pushConfigWrites(database: Database) {
  const epoch = epochOf(database);
  const unclaimed = database.prepare(
    `${SELECT} WHERE p.is_over = 0 AND p.epoch < ? ORDER BY p.created_at, p.name LIMIT ?`,
  );
  const claim = database.prepare(`UPDATE push_configs SET epoch = ${epoch} WHERE name = ?`);
  const others = database.prepare(`
    SELECT count(*) AS count FROM push_configs p JOIN requests r ON r.id = p.request
    WHERE r.owner = ? AND r.request_id = ? AND p.config_id <> ?`);
  const put = database.prepare(`
    INSERT INTO push_configs (name, request, config_id, url, version, secrets, created_at, position, is_over, epoch)
    SELECT ?, id, ?, ?, ?, ?, ?, ?, ?, ${epoch} FROM requests WHERE owner = ? AND request_id = ?
    ON CONFLICT (name) DO UPDATE SET url = excluded.url, version = excluded.version, secrets = excluded.secrets`);
  const advance = database.prepare('UPDATE push_configs SET position = ?, is_over = ? WHERE name = ?');
  const { addDelivery } = outboxWrites(database);

  return {
    putPushConfig(config: PushConfig, most: number): boolean {
      const { name, owner, requestId, configId, url, version, secrets, createdAt, position, isOver } = config;
      requireStorable(name, configId, url, secrets);
      if ((others.get(owner, requestId, configId) as { count: number }).count >= most) return false;
      const fields = [name, configId, url, version, secrets, createdAt, position, isOver ? 1 : 0];
      return put.run(...fields, owner, requestId).changes > 0;
    },

    claimPushConfigs(limit: number): PushConfigRow[] {
      const rows = rowsOf(unclaimed.all(epoch, limit));
      for (const { name } of rows) claim.run(name);
      return rows;
    },

    advancePush(name: string, { position, isOver, delivery }: PushAdvance): boolean {
      if (advance.run(position, isOver ? 1 : 0, name).changes === 0) return false;
      if (delivery !== null) addDelivery(delivery);
      return true;
    },
  };
}

export function pushConfigRemovals(database: Database) {
  const remove = database.prepare(`
    DELETE FROM push_configs
    WHERE config_id = ? AND request = (SELECT id FROM requests WHERE owner = ? AND request_id = ?)`);

  return {
    removePushConfig: ({ owner, requestId }: RequestKey, configId: string): boolean =>
      remove.run(configId, owner, requestId).changes > 0,
  };
}

type Stored = Omit<PushConfigRow, 'isOver'> & { readonly isOver: number };

function rowsOf(rows: readonly unknown[]): PushConfigRow[] {
  return (rows as Stored[]).map((row) => ({ ...row, isOver: row.isOver === 1 }));
}

function rowOf(row: unknown): PushConfigRow | undefined {
  return row === undefined ? undefined : rowsOf([row])[0];
}

const SELECT = `
  SELECT r.owner, r.request_id AS "requestId", r.agent_id AS "agentId", p.config_id AS "configId", p.name, p.url, p.version,
    p.secrets, p.created_at AS "createdAt", p.position, p.is_over AS "isOver"
  FROM push_configs p JOIN requests r ON r.id = p.request`;
