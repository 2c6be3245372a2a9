import type { RegistrationRow } from '../registrations.ts';
import type { Database } from '../sqlite-engine.ts';
import { requireStorable } from '../storable.ts';

export const REGISTRATION_TABLES = `
  CREATE TABLE registrations (
    agent_id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    card TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    registered_at BIGINT NOT NULL,
    last_heartbeat BIGINT NOT NULL
  )
`;

export function registrationReads(database: Database) {
  const list = database.prepare(`
    SELECT agent_id AS "agentId", owner, card, endpoint, registered_at AS "registeredAt", last_heartbeat AS "lastHeartbeat"
    FROM registrations ORDER BY agent_id`);

  return {
    listRegistrations: (): RegistrationRow[] => list.all() as RegistrationRow[],
  };
}

export function registrationWrites(database: Database) {
  const put = database.prepare(`
    INSERT INTO registrations (agent_id, owner, card, endpoint, registered_at, last_heartbeat) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (agent_id) DO UPDATE SET owner = excluded.owner, card = excluded.card, endpoint = excluded.endpoint,
      registered_at = excluded.registered_at, last_heartbeat = excluded.last_heartbeat`);
  const beat = database.prepare('UPDATE registrations SET last_heartbeat = ? WHERE agent_id = ?');

  return {
    putRegistration(row: RegistrationRow): void {
      requireStorable(row.agentId, row.owner, row.card, row.endpoint);
      put.run(row.agentId, row.owner, row.card, row.endpoint, row.registeredAt, row.lastHeartbeat);
    },

    beatRegistration: (agentId: string, at: number): boolean => beat.run(at, agentId).changes === 1,
  };
}

export function registrationRemovals(database: Database) {
  const remove = database.prepare('DELETE FROM registrations WHERE agent_id = ?');

  return {
    removeRegistration: (agentId: string): boolean => remove.run(agentId).changes === 1,
  };
}
