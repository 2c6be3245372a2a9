import type { PushConfigRow, PushConfigStore } from '../push-configs.ts';
import { requireStorable } from '../storable.ts';
import type { PostgresDatabase } from './database.ts';
import { GONE_NODES } from './gone.ts';
import { addDelivery } from './outbox.ts';
import { lockOwner } from './owner-lock.ts';

export function pushConfigStore(database: PostgresDatabase): PushConfigStore {
  const { read } = database;
  const one = async (text: string, ...values: unknown[]) => {
    const row = await read.get<Stored>(text, ...values);
    return row === undefined ? undefined : rowOf(row);
  };
  return {
    put: async (config, most) => {
      const { name, owner, requestId, configId, url, version, secrets, createdAt, position, isOver } = config;
      requireStorable(name, configId, url, secrets);
      return database.write(async (queries) => {
        await lockOwner(queries, 'push_configs', `${owner}\n${requestId}`);
        const others = await queries.get<{ count: number }>(OTHERS, owner, requestId, configId);
        if ((others?.count ?? 0) >= most) return false;
        const fields = [name, configId, url, version, secrets, createdAt, position, isOver ? 1 : 0, database.node];
        return (await queries.run(PUT, ...fields, owner, requestId)) > 0;
      });
    },
    find: ({ owner, requestId }, configId) => one(`${OF_REQUEST} AND p.config_id = $3`, owner, requestId, configId),
    list: async ({ owner, requestId }) =>
      (await read.all<Stored>(`${OF_REQUEST} ORDER BY p.created_at, p.name`, owner, requestId)).map(rowOf),
    named: (name) => one(`${SELECT} WHERE p.name = $1`, name),
    claim: async (limit) =>
      (await database.write((queries) => queries.all<Stored>(CLAIM, database.node, limit))).map(rowOf),
    advance: (name, { position, isOver, delivery }) =>
      database.write(async (queries) => {
        const advanced = await queries.run(ADVANCE, position, isOver ? 1 : 0, name, database.node);
        if (advanced === 0) return false;
        if (delivery !== null) await addDelivery(queries, database.node, delivery);
        return true;
      }),
    remove: async ({ owner, requestId }, configId) =>
      (await database.write((queries) => queries.run(REMOVE, configId, owner, requestId))) > 0,
  };
}

type Stored = Omit<PushConfigRow, 'isOver'> & { readonly isOver: number };

function rowOf(row: Stored): PushConfigRow {
  return { ...row, isOver: row.isOver === 1 };
}

const SELECT = `
  SELECT r.owner, r.request_id AS "requestId", r.agent_id AS "agentId", p.config_id AS "configId", p.name, p.url, p.version,
    p.secrets, p.created_at AS "createdAt", p.position, p.is_over AS "isOver"
  FROM push_configs p JOIN requests r ON r.id = p.request`;
const OF_REQUEST = `${SELECT} WHERE r.owner = $1 AND r.request_id = $2`;
const OTHERS = `
  SELECT count(*) AS count FROM push_configs p JOIN requests r ON r.id = p.request
  WHERE r.owner = $1 AND r.request_id = $2 AND p.config_id <> $3`;
const PUT = `
  INSERT INTO push_configs (name, request, config_id, url, version, secrets, created_at, position, is_over, holder)
  SELECT $1::text, id, $2::text, $3::text, $4::text, $5::text, $6::bigint, $7::text, $8::integer, $9::bigint FROM requests
  WHERE owner = $10 AND request_id = $11
  ON CONFLICT (name) DO UPDATE SET url = excluded.url, version = excluded.version, secrets = excluded.secrets`;
const CLAIM = `
  WITH left_open AS (
    SELECT name FROM push_configs WHERE is_over = 0 AND holder IN (${GONE_NODES}) ORDER BY created_at, name LIMIT $2 FOR UPDATE SKIP LOCKED
  ), claimed AS (
    UPDATE push_configs p SET holder = $1 FROM left_open l WHERE p.name = l.name RETURNING p.*
  )
  ${SELECT.replace('push_configs p', 'claimed p')} ORDER BY p.created_at, p.name`;
const ADVANCE = 'UPDATE push_configs SET position = $1, is_over = $2 WHERE name = $3 AND holder = $4';
const REMOVE = `
  DELETE FROM push_configs
  WHERE config_id = $1 AND request = (SELECT id FROM requests WHERE owner = $2 AND request_id = $3)`;
