import type { ApiRow, ApiStore } from '../apis.ts';
import type { FamilyName } from '../families.ts';
import type { KnowledgeBaseRow, KnowledgeStore } from '../knowledge.ts';
import type { PinRow, PinStore } from '../pins.ts';
import type { Heartbeat, RegistrationRow, RegistrationStore } from '../registrations.ts';
import { checksumOfAgent, SELECT_AGENT } from '../sql/agents.ts';
import { checksumOfApi, SELECT_API } from '../sql/apis.ts';
import { type Checked, isWhole, wholeRows } from '../sql/checked-rows.ts';
import { checksumOfKey, SELECT_KEY } from '../sql/keys.ts';
import { checksumOfRegistration, SELECT_REGISTRATION } from '../sql/registrations.ts';
import { checksumOfWorkflow, SELECT_NEWEST, SELECT_WORKFLOW } from '../sql/workflows.ts';
import { requireStorable } from '../storable.ts';
import type { AgentRow, AgentStore, KeyRow, KeyStore } from '../store.ts';
import type { WorkflowRow, WorkflowStore } from '../workflows.ts';
import type { PostgresDatabase } from './database.ts';
import type { PostgresFamilies } from './families.ts';
import { lockOwner } from './owner-lock.ts';

// The stores of administration. Their tables have few rows, are read whole and change seldom.

export function keyStore(database: PostgresDatabase, families: PostgresFamilies): KeyStore {
  return {
    put: async (row) => {
      const { keyId, hash, agentId, role, description, createdAt, expiresAt, revokedAt } = row;
      requireStorable(keyId, agentId, description);
      const values = [keyId, hash, agentId, role, description, createdAt, expiresAt, revokedAt, checksumOfKey(row)];
      await families.change('keys', (queries) => queries.run(PUT_KEY, ...values));
    },
    list: async () =>
      wholeRows(await database.read.all<Checked<KeyRow>>(`${SELECT_KEY} ORDER BY created_at, key_id`), checksumOfKey),
    revoke: (keyId, at) =>
      families.change('keys', async (queries) => {
        const row = await queries.get<Checked<KeyRow>>(
          `${SELECT_KEY} WHERE key_id = $1 AND revoked_at IS NULL FOR UPDATE`,
          keyId,
        );
        if (row === undefined) return false;
        // A damaged key stays damaged: its checksum is not recomputed.
        const checksum = isWhole(row, checksumOfKey) ? checksumOfKey({ ...row, revokedAt: at }) : row.checksum;
        return (
          (await queries.run(
            'UPDATE keys SET revoked_at = $1, checksum = $2 WHERE key_id = $3',
            at,
            checksum,
            keyId,
          )) === 1
        );
      }),
  };
}

export function agentStore(database: PostgresDatabase, families: PostgresFamilies): AgentStore {
  return {
    put: async (row) => {
      requireStorable(row.agentId, row.definition);
      const values = [row.agentId, row.definition, row.createdAt, checksumOfAgent(row)];
      await families.change('agents', (queries) => queries.run(putDefinition('agents', 'agent_id'), ...values));
    },
    list: async () =>
      wholeRows(
        await database.read.all<Checked<AgentRow>>(`${SELECT_AGENT} ORDER BY created_at, agent_id`),
        checksumOfAgent,
      ),
    remove: (agentId) => removed(families, 'agents', 'agents', 'agent_id', agentId),
  };
}

export function apiStore(database: PostgresDatabase, families: PostgresFamilies): ApiStore {
  return {
    put: async (row) => {
      requireStorable(row.apiId, row.definition);
      const values = [row.apiId, row.definition, row.createdAt, checksumOfApi(row)];
      await families.change('apis', (queries) => queries.run(putDefinition('apis', 'api_id'), ...values));
    },
    list: async () =>
      wholeRows(await database.read.all<Checked<ApiRow>>(`${SELECT_API} ORDER BY created_at, api_id`), checksumOfApi),
    remove: (apiId) => removed(families, 'apis', 'apis', 'api_id', apiId),
  };
}

export function knowledgeStore(database: PostgresDatabase, families: PostgresFamilies): KnowledgeStore {
  return {
    put: async ({ baseId, definition, createdAt }) => {
      requireStorable(baseId, definition);
      await families.change('knowledge', (queries) => queries.run(PUT_KNOWLEDGE, baseId, definition, createdAt));
    },
    list: () => database.read.all<KnowledgeBaseRow>(LIST_KNOWLEDGE),
    remove: (baseId) => removed(families, 'knowledge', 'knowledge_bases', 'base_id', baseId),
  };
}

export function pinStore(database: PostgresDatabase, families: PostgresFamilies): PinStore {
  return {
    put: async ({ name, hash, pinnedAt, definition }) => {
      requireStorable(name, hash, definition);
      await families.change('pins', (queries) => queries.run(PUT_PIN, name, hash, pinnedAt, definition));
    },
    add: async ({ name, hash, pinnedAt, definition }) => {
      requireStorable(name, hash, definition);
      return families.change('pins', async (queries) => {
        await queries.run(ADD_PIN, name, hash, pinnedAt, definition);
        return (await queries.get<PinRow>(`${SELECT_PIN} WHERE name = $1`, name)) as PinRow;
      });
    },
    refuse: async (name, hash) => {
      await families.change('pins', (queries) =>
        queries.run('UPDATE tool_pins SET refused = $1 WHERE name = $2', hash, name),
      );
    },
    definition: async (name) =>
      (await database.read.get<{ definition: string | null }>('SELECT definition FROM tool_pins WHERE name = $1', name))
        ?.definition ?? null,
    list: () => database.read.all<PinRow>(`${SELECT_PIN} ORDER BY name`),
  };
}

export function registrationStore(database: PostgresDatabase, families: PostgresFamilies): RegistrationStore {
  return {
    put: async (row) => {
      const { agentId, owner, card, endpoint, registeredAt, lastHeartbeat } = row;
      requireStorable(agentId, owner, card, endpoint);
      const values = [agentId, owner, card, endpoint, registeredAt, lastHeartbeat, checksumOfRegistration(row)];
      return families.change('registrations', async (queries) => {
        await lockOwner(queries, 'registrations', agentId.toLowerCase());
        if (agentId !== owner && (await queries.get(REGISTERED_ALIKE, agentId)) !== undefined) return false;
        return (await queries.run(PUT_REGISTRATION, ...values)) === 1;
      });
    },
    list: async () =>
      wholeRows(await database.read.all<Checked<RegistrationRow>>(SELECT_REGISTRATION), checksumOfRegistration),
    beat: async (agentId, at) =>
      (await database.write((queries) =>
        queries.run('UPDATE registrations SET last_heartbeat = $1 WHERE agent_id = $2', at, agentId),
      )) === 1,
    beats: (since) => database.read.all<Heartbeat>(BEATS, since),
    remove: (agentId) => removed(families, 'registrations', 'registrations', 'agent_id', agentId),
  };
}

export function workflowStore(database: PostgresDatabase, families: PostgresFamilies): WorkflowStore {
  const versions = (name: string) => database.read.all<Checked<WorkflowRow>>(SELECT_VERSIONS, name);
  return {
    put: async (workflow) => {
      const { name, description, text, planHash, createdAt } = workflow;
      requireStorable(name, description, text);
      return families.change('workflows', async (queries) => {
        await lockOwner(queries, 'workflows', name);
        const last = await queries.get<Checked<WorkflowRow>>(`${SELECT_VERSIONS} LIMIT 1`, name);
        const [current] = last === undefined ? [] : wholeRows([last], checksumOfWorkflow);
        if (current?.removedAt === null && current.text === text && current.description === description) return current;
        const row = { ...workflow, version: (last?.version ?? 0) + 1, removedAt: null };
        const values = [name, row.version, description, text, planHash, createdAt, checksumOfWorkflow(row)];
        await queries.run(INSERT_WORKFLOW, ...values);
        return row;
      });
    },
    list: async () => wholeRows(await database.read.all<Checked<WorkflowRow>>(SELECT_NEWEST), checksumOfWorkflow),
    versions: async (name) => wholeRows(await versions(name), checksumOfWorkflow),
    remove: (name, at) =>
      families.change('workflows', async (queries) => {
        await lockOwner(queries, 'workflows', name);
        const there = (await queries.all<Checked<WorkflowRow>>(SELECT_VERSIONS, name)).filter(
          ({ removedAt }) => removedAt === null,
        );
        for (const { checksum, ...row } of there) {
          const sum = isWhole({ checksum, ...row }, checksumOfWorkflow)
            ? checksumOfWorkflow({ ...row, removedAt: at })
            : checksum;
          await queries.run(REMOVE_WORKFLOW, at, sum, name, row.version);
        }
        return there.length > 0;
      }),
  };
}

async function removed(
  families: PostgresFamilies,
  family: FamilyName,
  table: string,
  column: string,
  id: string,
): Promise<boolean> {
  const text = `DELETE FROM ${table} WHERE ${column} = $1`;
  return (await families.change(family, (queries) => queries.run(text, id))) === 1;
}

function putDefinition(table: string, column: string): string {
  return `
    INSERT INTO ${table} (${column}, definition, created_at, checksum) VALUES ($1, $2, $3, $4)
    ON CONFLICT (${column}) DO UPDATE SET definition = excluded.definition, created_at = excluded.created_at,
      checksum = excluded.checksum`;
}

const PUT_KEY = `
  INSERT INTO keys (key_id, hash, agent_id, role, description, created_at, expires_at, revoked_at, checksum)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  ON CONFLICT (key_id) DO UPDATE SET hash = excluded.hash, agent_id = excluded.agent_id, role = excluded.role,
    description = excluded.description, created_at = excluded.created_at, expires_at = excluded.expires_at,
    revoked_at = excluded.revoked_at, checksum = excluded.checksum`;
const PUT_KNOWLEDGE = `
  INSERT INTO knowledge_bases (base_id, definition, created_at) VALUES ($1, $2, $3)
  ON CONFLICT (base_id) DO UPDATE SET definition = excluded.definition, created_at = excluded.created_at`;
const LIST_KNOWLEDGE = `
  SELECT base_id AS "baseId", definition, created_at AS "createdAt" FROM knowledge_bases ORDER BY created_at, base_id`;
const PUT_PIN = `
  INSERT INTO tool_pins (name, hash, pinned_at, definition) VALUES ($1, $2, $3, $4)
  ON CONFLICT (name) DO UPDATE SET
    hash = excluded.hash, pinned_at = excluded.pinned_at, definition = excluded.definition, refused = NULL`;
const ADD_PIN = `
  INSERT INTO tool_pins (name, hash, pinned_at, definition) VALUES ($1, $2, $3, $4) ON CONFLICT (name) DO NOTHING`;
const SELECT_PIN =
  'SELECT name, hash, pinned_at AS "pinnedAt", refused, definition IS NOT NULL AS "hasDefinition" FROM tool_pins';
const PUT_REGISTRATION = `
  INSERT INTO registrations (agent_id, owner, card, endpoint, registered_at, last_heartbeat, checksum)
  VALUES ($1, $2, $3, $4, $5, $6, $7)
  ON CONFLICT (agent_id) DO UPDATE SET owner = excluded.owner, card = excluded.card, endpoint = excluded.endpoint,
    registered_at = excluded.registered_at, last_heartbeat = excluded.last_heartbeat, checksum = excluded.checksum
  WHERE registrations.owner = excluded.owner OR excluded.agent_id = excluded.owner`;
const REGISTERED_ALIKE = `
  SELECT 1 FROM registrations WHERE lower(agent_id) = lower($1) AND agent_id <> $1
    AND NOT EXISTS (SELECT 1 FROM registrations WHERE agent_id = $1) LIMIT 1`;
const BEATS = `
  SELECT agent_id AS "agentId", last_heartbeat AS "lastHeartbeat" FROM registrations WHERE last_heartbeat > $1
  ORDER BY last_heartbeat, agent_id`;
const SELECT_VERSIONS = `${SELECT_WORKFLOW} WHERE name = $1 ORDER BY version DESC`;
const INSERT_WORKFLOW = `
  INSERT INTO workflows (name, version, description, text, plan_hash, created_at, removed_at, checksum)
  VALUES ($1, $2, $3, $4, $5, $6, NULL, $7)`;
const REMOVE_WORKFLOW = 'UPDATE workflows SET removed_at = $1, checksum = $2 WHERE name = $3 AND version = $4';
