import { ANONYMOUS_INDEXES } from './sql/anonymous.ts';
import { API_TABLES } from './sql/apis.ts';
import { CREDENTIALS_MIGRATION } from './sql/credentials.ts';
import { DAMAGE_TABLES } from './sql/damages.ts';
import { EXECUTION_TABLES } from './sql/executions.ts';
import { KNOWLEDGE_TABLES } from './sql/knowledge.ts';
import { MAILBOX_MIGRATION, THREAD_END_TABLES } from './sql/mailbox-tables.ts';
import { NONCE_TABLES } from './sql/nonces.ts';
import { PUSH_CONFIG_TABLES } from './sql/push-configs.ts';
import { REGISTRATION_TABLES } from './sql/registrations.ts';
import { ENDED_BY_TIME_INDEX, ENDED_REQUEST_TABLES } from './sql/request-list.ts';
import { WORKFLOW_TABLES } from './sql/workflows.ts';
import type { Database } from './sqlite-engine.ts';
import { StoreError } from './store-error.ts';

/**
 * Brings the database to the newest version, or refuses it. Each step runs once and sets its number in the same
 * transaction, so that a kill in between changes nothing. There is no way back to an older version.
 */
export function migrate(database: Database, path: string): void {
  const applicationId = numberOf(database, 'PRAGMA application_id');
  const version = numberOf(database, 'PRAGMA user_version');
  const tables = numberOf(database, 'SELECT count(*) FROM sqlite_master');
  const fresh = applicationId === 0 && version === 0 && tables === 0;
  if (!fresh && applicationId !== APPLICATION_ID) {
    throw new StoreError('store_foreign', `${path} is a database of another program. Choose another data folder.`);
  }
  if (version > MIGRATIONS.length) {
    throw new StoreError(
      'store_newer',
      `${path} has version ${version} and this program knows versions up to ${MIGRATIONS.length}. ` +
        'Run the newer program that wrote it, or choose another data folder.',
    );
  }
  for (let next = version; next < MIGRATIONS.length; next += 1) {
    database.exec(
      `BEGIN IMMEDIATE; ${MIGRATIONS[next]}; PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${next + 1}; COMMIT`,
    );
  }
}

function numberOf(database: Database, sql: string): number {
  const row = database.prepare(sql).get();
  return Number(Object.values(Object(row))[0]);
}

/** "Drag": marks the files of this program. */
export const APPLICATION_ID = 0x44726167;

/**
 * Append only: a released step never changes.
 *
 * A row of `requests` is never rewritten. A request is open as long as it has a row in `open_requests`, which changes
 * when the request starts and is deleted when it ends. A row of `frames` has all frames that were added together: their
 * texts one after the other and, if there are several, the length of each.
 */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE requests (
    id INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,
    request_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    session_id TEXT,
    idempotency_key TEXT,
    envelope TEXT NOT NULL,
    accepted_at BIGINT NOT NULL,
    expires_at BIGINT,
    priority INTEGER NOT NULL,
    checksum BIGINT NOT NULL,
    UNIQUE (owner, request_id)
  );
  CREATE UNIQUE INDEX requests_by_idempotency_key ON requests (owner, idempotency_key) WHERE idempotency_key IS NOT NULL;
  CREATE INDEX requests_by_session ON requests (owner, agent_id, session_id, accepted_at) WHERE session_id IS NOT NULL;

  CREATE TABLE open_requests (
    request INTEGER PRIMARY KEY REFERENCES requests (id) ON DELETE CASCADE,
    started INTEGER NOT NULL
  );

  CREATE TABLE frames (
    request INTEGER NOT NULL REFERENCES requests (id) ON DELETE CASCADE,
    first INTEGER NOT NULL,
    count INTEGER NOT NULL,
    ends INTEGER NOT NULL,
    lengths TEXT,
    text TEXT NOT NULL,
    checksum BIGINT NOT NULL,
    PRIMARY KEY (request, first)
  );

  CREATE TABLE sessions (
    id INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    title TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (owner, agent_id, session_id)
  );
  CREATE INDEX sessions_by_use ON sessions (owner, updated_at);

  CREATE TABLE keys (
    key_id TEXT PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    agent_id TEXT NOT NULL,
    role TEXT NOT NULL,
    description TEXT,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT
  );

  CREATE TABLE agents (
    agent_id TEXT PRIMARY KEY,
    definition TEXT NOT NULL,
    created_at BIGINT NOT NULL
  );

  CREATE TABLE counters (
    principal TEXT NOT NULL,
    name TEXT NOT NULL,
    slice BIGINT NOT NULL,
    count BIGINT NOT NULL,
    PRIMARY KEY (principal, name, slice)
  )
  `,
  'CREATE INDEX sessions_by_agent ON sessions (agent_id, session_id)',
  CREDENTIALS_MIGRATION,
  MAILBOX_MIGRATION,
  `${API_TABLES}; ${KNOWLEDGE_TABLES}`,
  `
  CREATE TABLE tool_pins (
    name TEXT PRIMARY KEY,
    hash TEXT NOT NULL,
    pinned_at BIGINT NOT NULL
  );

  CREATE TABLE memories (
    owner TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    namespace TEXT NOT NULL,
    scope TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (owner, memory_id)
  );

  CREATE TABLE memory_entries (
    space TEXT NOT NULL,
    key TEXT NOT NULL,
    owner TEXT NOT NULL,
    entry TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    expires_at BIGINT,
    PRIMARY KEY (space, key)
  );
  CREATE INDEX memory_entries_by_end ON memory_entries (expires_at) WHERE expires_at IS NOT NULL
  `,
  EXECUTION_TABLES,
  `${REGISTRATION_TABLES}; ${NONCE_TABLES}`,
  'ALTER TABLE requests ADD COLUMN arrival TEXT',
  'ALTER TABLE stored_data ADD COLUMN labels TEXT',
  // An answer that was recorded with its request, in the form of `frames`: one row takes fewer pages than two.
  `
  ALTER TABLE requests ADD COLUMN answer_count INTEGER;
  ALTER TABLE requests ADD COLUMN answer_lengths TEXT;
  ALTER TABLE requests ADD COLUMN answer TEXT;
  ALTER TABLE requests ADD COLUMN answer_checksum BIGINT
  `,
  // Parts that an earlier version left out of `result`, because they repeated others. Now always null. `withRepeats`
  // reads it.
  'ALTER TABLE execution_ends ADD COLUMN repeats TEXT',
  // The size of an owner's memory is computed for each new entry. The index has the lengths, so that entries need not
  // be read.
  'CREATE INDEX memory_entries_by_owner ON memory_entries (owner, expires_at, length(entry))',
  // When a long request was last known to be open.
  `
  CREATE TABLE late_requests (
    request INTEGER PRIMARY KEY REFERENCES requests (id) ON DELETE CASCADE,
    open_at BIGINT NOT NULL
  )
  `,
  // The checksum of a callback's constant columns: URL, owner, expiry. Null in older rows.
  'ALTER TABLE deliveries ADD COLUMN head_checksum BIGINT',
  THREAD_END_TABLES,
  ANONYMOUS_INDEXES,
  // The number of committed transactions: a database with fewer than its marker has lost some.
  `
  CREATE TABLE commits (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    count BIGINT NOT NULL
  );
  INSERT INTO commits (id, count) VALUES (1, 0)
  `,
  // The checksums are null in older rows.
  `
  ${DAMAGE_TABLES};
  ALTER TABLE keys ADD COLUMN checksum BIGINT;
  ALTER TABLE agents ADD COLUMN checksum BIGINT;
  ALTER TABLE apis ADD COLUMN checksum BIGINT;
  ALTER TABLE registrations ADD COLUMN checksum BIGINT
  `,
  WORKFLOW_TABLES,
  // Null for a key that does not expire.
  'ALTER TABLE keys ADD COLUMN expires_at BIGINT',
  // The foreign agent's own id for the conversation.
  'ALTER TABLE sessions ADD COLUMN remote TEXT',
  ENDED_REQUEST_TABLES,
  PUSH_CONFIG_TABLES,
  // The folder that a client works in.
  'ALTER TABLE sessions ADD COLUMN cwd TEXT',
  // The definition that a pin's hash was computed from, and the hash of the last refused change.
  `
  ALTER TABLE tool_pins ADD COLUMN definition TEXT;
  ALTER TABLE tool_pins ADD COLUMN refused TEXT
  `,
  // The number of the store's opening that works on the row. Rows of an earlier opening are claimed.
  `
  ALTER TABLE open_requests ADD COLUMN epoch BIGINT NOT NULL DEFAULT 0;
  ALTER TABLE open_executions ADD COLUMN epoch BIGINT NOT NULL DEFAULT 0;
  ALTER TABLE letters ADD COLUMN epoch BIGINT NOT NULL DEFAULT 0;
  ALTER TABLE deliveries ADD COLUMN epoch BIGINT NOT NULL DEFAULT 0;
  ALTER TABLE push_configs ADD COLUMN epoch BIGINT NOT NULL DEFAULT 0
  `,
  // Finds ids that differ only in the case of letters.
  'CREATE INDEX registrations_by_spelling ON registrations (lower(agent_id))',
  ENDED_BY_TIME_INDEX,
];
