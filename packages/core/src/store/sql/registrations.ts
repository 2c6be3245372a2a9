import type { Damage } from '../damage.ts';
import type { Heartbeat, RegistrationRow } from '../registrations.ts';
import type { Database } from '../sqlite-engine.ts';
import { requireStorable } from '../storable.ts';
import { type Checked, checksumOf, isWhole, wholeRows } from './checked-rows.ts';

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
  const list = database.prepare(SELECT_REGISTRATION);

  const beats = database.prepare(`
    SELECT agent_id AS "agentId", last_heartbeat AS "lastHeartbeat" FROM registrations WHERE last_heartbeat > ?
    ORDER BY last_heartbeat, agent_id`);

  return {
    heartbeats: (since: number): Heartbeat[] => beats.all(since) as unknown as Heartbeat[],
    listRegistrations: (): RegistrationRow[] =>
      wholeRows(list.all() as Checked<RegistrationRow>[], checksumOfRegistration),
  };
}

export function damagedRegistrations(database: Database): () => Damage[] {
  const list = database.prepare(SELECT_REGISTRATION);
  return () =>
    (list.all() as Checked<RegistrationRow>[])
      .filter((row) => !isWhole(row, checksumOfRegistration))
      .map(({ owner, agentId }) => ({ kind: 'registration', owner, name: agentId }));
}

export function registrationWrites(database: Database) {
  const put = database.prepare(`
    INSERT INTO registrations (agent_id, owner, card, endpoint, registered_at, last_heartbeat, checksum)
    VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (agent_id) DO UPDATE SET owner = excluded.owner, card = excluded.card, endpoint = excluded.endpoint,
      registered_at = excluded.registered_at, last_heartbeat = excluded.last_heartbeat,
      checksum = excluded.checksum
    WHERE registrations.owner = excluded.owner OR excluded.agent_id = excluded.owner`);
  const alike = database.prepare(`
    SELECT 1 FROM registrations WHERE lower(agent_id) = lower(?1) AND agent_id <> ?1
      AND NOT EXISTS (SELECT 1 FROM registrations WHERE agent_id = ?1) LIMIT 1`);
  const beat = database.prepare('UPDATE registrations SET last_heartbeat = ? WHERE agent_id = ?');

  return {
    putRegistration(row: RegistrationRow): boolean {
      requireStorable(row.agentId, row.owner, row.card, row.endpoint);
      const { agentId, owner, card, endpoint, registeredAt, lastHeartbeat } = row;
      if (agentId !== owner && alike.get(agentId) !== undefined) return false;
      const values = [agentId, owner, card, endpoint, registeredAt, lastHeartbeat, checksumOfRegistration(row)];
      return put.run(...values).changes === 1;
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

/** Without the last heartbeat, which changes on its own and only decides whether the agent is healthy. */
export function checksumOfRegistration({ agentId, owner, card, endpoint, registeredAt }: RegistrationRow): number {
  return checksumOf(agentId, owner, card, endpoint, registeredAt);
}

export const SELECT_REGISTRATION = `
  SELECT agent_id AS "agentId", owner, card, endpoint, registered_at AS "registeredAt",
    last_heartbeat AS "lastHeartbeat", checksum
  FROM registrations ORDER BY agent_id`;
