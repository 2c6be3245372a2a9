/**
 * The tables, each step once and in order. Forward only: a released step never changes.
 *
 * The tables are those of SQLite, with these differences. Open work has a `holder`, the node that works on it, and an
 * `epoch`, which each claim raises. Every write to open work names both. `next` is the sequence of the next frame, so
 * that one UPDATE checks the holder, detects gaps and locks the row. Tables that are written all the time have no foreign
 * keys, because each insert would lock its parent. Text is compared by its bytes. Each connection has a row in `lanes`,
 * with the number of the last transaction that it committed.
 *
 * Nodes of the previous release run while a step is taken. A step therefore changes only one table that is in use, and
 * only adds to it: columns with a default, tables, indexes. Unused columns and tables are removed by the release after
 * the last one that used them, which raises `LEAST_STEPS`.
 */
export const STEPS: readonly string[] = [
  `
  CREATE TABLE nodes (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL,
    version text NOT NULL,
    state text NOT NULL,
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    beat_at timestamptz NOT NULL DEFAULT clock_timestamp()
  );

  CREATE TABLE lanes (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    last bigint NOT NULL
  ) WITH (fillfactor = 10);

  CREATE TABLE requests (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owner text NOT NULL,
    request_id text NOT NULL,
    agent_id text NOT NULL,
    session_id text,
    idempotency_key text,
    envelope text NOT NULL,
    accepted_at bigint NOT NULL,
    expires_at bigint,
    priority integer NOT NULL,
    checksum bigint NOT NULL,
    arrival text,
    answer_count integer,
    answer_lengths text,
    answer text,
    answer_checksum bigint,
    UNIQUE (owner, request_id)
  );
  CREATE UNIQUE INDEX requests_by_idempotency_key ON requests (owner, idempotency_key) WHERE idempotency_key IS NOT NULL;
  CREATE INDEX requests_by_session ON requests (owner, agent_id, session_id, accepted_at) WHERE session_id IS NOT NULL;
  CREATE INDEX anonymous_requests ON requests (accepted_at, id) WHERE owner >= 'anonymous ' AND owner < 'anonymous!';

  CREATE TABLE open_requests (
    request bigint PRIMARY KEY,
    holder bigint NOT NULL,
    epoch bigint NOT NULL,
    started integer NOT NULL,
    next integer NOT NULL,
    answering_since bigint
  ) WITH (fillfactor = 50);

  CREATE TABLE frames (
    request bigint NOT NULL,
    first integer NOT NULL,
    count integer NOT NULL,
    ends integer NOT NULL,
    lengths text,
    text text NOT NULL,
    checksum bigint NOT NULL,
    PRIMARY KEY (request, first)
  );

  CREATE TABLE ended_requests (
    request bigint PRIMARY KEY,
    owner text NOT NULL,
    agent_id text NOT NULL,
    ending text NOT NULL,
    ended_at bigint NOT NULL
  );
  CREATE INDEX ended_requests_by_end ON ended_requests (owner, agent_id, ending, ended_at, request);

  CREATE TABLE late_requests (
    request bigint PRIMARY KEY,
    open_at bigint NOT NULL
  );

  CREATE TABLE sessions (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owner text NOT NULL,
    agent_id text NOT NULL,
    session_id text NOT NULL,
    title text,
    cwd text,
    remote text,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    UNIQUE (owner, agent_id, session_id)
  );
  CREATE INDEX sessions_by_use ON sessions (owner, updated_at);
  CREATE INDEX sessions_by_agent ON sessions (agent_id, session_id);

  CREATE TABLE keys (
    key_id text PRIMARY KEY,
    hash text NOT NULL UNIQUE,
    agent_id text NOT NULL,
    role text NOT NULL,
    description text,
    created_at bigint NOT NULL,
    expires_at bigint,
    revoked_at bigint,
    checksum bigint
  );

  CREATE TABLE agents (agent_id text PRIMARY KEY, definition text NOT NULL, created_at bigint NOT NULL, checksum bigint);
  CREATE TABLE apis (api_id text PRIMARY KEY, definition text NOT NULL, created_at bigint NOT NULL, checksum bigint);
  CREATE TABLE knowledge_bases (base_id text PRIMARY KEY, definition text NOT NULL, created_at bigint NOT NULL);
  CREATE TABLE tool_pins (
    name text PRIMARY KEY,
    hash text NOT NULL,
    pinned_at bigint NOT NULL,
    definition text,
    refused text
  );

  CREATE TABLE workflows (
    name text NOT NULL,
    version integer NOT NULL,
    description text NOT NULL,
    text text NOT NULL,
    plan_hash text NOT NULL,
    created_at bigint NOT NULL,
    removed_at bigint,
    checksum bigint NOT NULL,
    PRIMARY KEY (name, version)
  );

  CREATE TABLE registrations (
    agent_id text PRIMARY KEY,
    owner text NOT NULL,
    card text NOT NULL,
    endpoint text NOT NULL,
    registered_at bigint NOT NULL,
    last_heartbeat bigint NOT NULL,
    checksum bigint
  );

  CREATE UNLOGGED TABLE counters (
    principal text NOT NULL,
    name text NOT NULL,
    slice double precision NOT NULL,
    count bigint NOT NULL,
    PRIMARY KEY (principal, name, slice)
  );

  CREATE TABLE nonces (
    agent_id text NOT NULL,
    nonce text NOT NULL,
    digest text NOT NULL,
    used_at bigint NOT NULL,
    PRIMARY KEY (agent_id, nonce)
  );
  CREATE INDEX nonces_by_age ON nonces (used_at);

  CREATE TABLE credentials (
    credential_id text PRIMARY KEY,
    version bigint NOT NULL,
    type text NOT NULL,
    hosts text NOT NULL,
    places text NOT NULL,
    description text,
    nonce text NOT NULL,
    sealed text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
  );

  CREATE TABLE vault_seal (
    id integer PRIMARY KEY CHECK (id = 1),
    salt text NOT NULL,
    key_check text NOT NULL,
    manifest text NOT NULL,
    mac text NOT NULL
  );

  CREATE TABLE credential_receipts (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    used_at bigint NOT NULL,
    caller text NOT NULL,
    credential_id text NOT NULL,
    version bigint NOT NULL,
    host text NOT NULL,
    purpose text,
    outcome text NOT NULL
  );
  CREATE INDEX credential_receipts_by_credential ON credential_receipts (credential_id, id);
  CREATE INDEX credential_receipts_by_time ON credential_receipts (used_at);

  CREATE TABLE letters (
    owner text NOT NULL,
    request_id text NOT NULL,
    agent_id text NOT NULL,
    thread_id text,
    accepted_at bigint NOT NULL,
    holder bigint NOT NULL,
    PRIMARY KEY (owner, request_id)
  );

  CREATE TABLE thread_messages (
    owner text NOT NULL,
    thread_id text NOT NULL,
    sequence bigint NOT NULL,
    agent_id text NOT NULL,
    message_id text NOT NULL,
    is_answer integer NOT NULL,
    text text NOT NULL,
    at bigint NOT NULL,
    checksum bigint NOT NULL,
    PRIMARY KEY (owner, thread_id, sequence)
  );
  CREATE INDEX thread_messages_by_agent ON thread_messages (agent_id, thread_id, at);
  CREATE INDEX thread_messages_by_id ON thread_messages (owner, thread_id, message_id);
  CREATE INDEX thread_messages_by_age ON thread_messages (at);

  CREATE TABLE thread_counts (
    owner text NOT NULL,
    thread_id text NOT NULL,
    last bigint NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (owner, thread_id)
  );
  CREATE INDEX thread_counts_by_age ON thread_counts (at);

  CREATE TABLE deliveries (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text NOT NULL UNIQUE,
    owner text NOT NULL,
    request_id text NOT NULL,
    message_id text NOT NULL,
    url text NOT NULL,
    body text NOT NULL,
    priority integer NOT NULL,
    expires_at bigint,
    created_at bigint NOT NULL,
    state text NOT NULL,
    attempts integer NOT NULL,
    next_at bigint NOT NULL,
    failures text NOT NULL,
    ended_at bigint,
    checksum bigint NOT NULL,
    head_checksum bigint,
    holder bigint NOT NULL
  );
  CREATE INDEX deliveries_by_state ON deliveries (state, number);
  CREATE INDEX deliveries_by_end ON deliveries (ended_at) WHERE ended_at IS NOT NULL;
  CREATE INDEX deliveries_by_request ON deliveries (owner, request_id);
  CREATE INDEX anonymous_deliveries ON deliveries (created_at, number) WHERE owner >= 'anonymous ' AND owner < 'anonymous!';

  CREATE TABLE disabled_urls (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owner text NOT NULL,
    url text NOT NULL,
    at bigint NOT NULL,
    UNIQUE (owner, url)
  );
  CREATE INDEX anonymous_urls ON disabled_urls (at, number) WHERE owner >= 'anonymous ' AND owner < 'anonymous!';

  CREATE TABLE signing_salts (agent_id text PRIMARY KEY, salt text NOT NULL);

  CREATE TABLE push_configs (
    name text PRIMARY KEY,
    request bigint NOT NULL,
    config_id text NOT NULL,
    url text NOT NULL,
    version text NOT NULL,
    secrets text,
    created_at bigint NOT NULL,
    position text NOT NULL,
    is_over integer NOT NULL,
    holder bigint NOT NULL,
    UNIQUE (request, config_id)
  );
  CREATE INDEX push_configs_unfinished ON push_configs (created_at) WHERE is_over = 0;

  CREATE TABLE memories (
    owner text NOT NULL,
    memory_id text NOT NULL,
    namespace text NOT NULL,
    scope text NOT NULL,
    created_at bigint NOT NULL,
    PRIMARY KEY (owner, memory_id)
  );

  CREATE TABLE memory_entries (
    space text NOT NULL,
    key text NOT NULL,
    owner text NOT NULL,
    entry text NOT NULL,
    size integer NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    expires_at bigint,
    PRIMARY KEY (space, key)
  );
  CREATE INDEX memory_entries_by_end ON memory_entries (expires_at) WHERE expires_at IS NOT NULL;
  CREATE INDEX memory_entries_by_owner ON memory_entries (owner, expires_at, size);

  CREATE TABLE executions (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owner text NOT NULL,
    execution_id text NOT NULL,
    digest text NOT NULL,
    idempotency_key text,
    request text NOT NULL,
    accepted_at bigint NOT NULL,
    checksum bigint NOT NULL,
    UNIQUE (owner, execution_id)
  );
  CREATE UNIQUE INDEX executions_by_idempotency_key ON executions (owner, idempotency_key) WHERE idempotency_key IS NOT NULL;
  CREATE INDEX executions_by_owner ON executions (owner, id);

  CREATE TABLE open_executions (
    execution bigint PRIMARY KEY,
    holder bigint NOT NULL,
    epoch bigint NOT NULL
  );

  CREATE TABLE execution_ends (
    execution bigint PRIMARY KEY,
    status text NOT NULL,
    result text NOT NULL,
    events text NOT NULL,
    ended_at bigint NOT NULL,
    repeats text,
    checksum bigint NOT NULL
  );

  CREATE TABLE execution_effects (
    execution bigint NOT NULL,
    position integer NOT NULL,
    name text NOT NULL,
    kind text NOT NULL,
    note text NOT NULL,
    bytes bytea,
    checksum bigint NOT NULL,
    PRIMARY KEY (execution, position)
  );

  CREATE TABLE stored_data (
    owner text NOT NULL,
    name text NOT NULL,
    value text,
    file text,
    bytes bigint NOT NULL,
    labels text,
    updated_at bigint NOT NULL,
    checksum bigint NOT NULL,
    PRIMARY KEY (owner, name)
  )
  `,
  // The nodes, and what each of them holds.
  `
  ALTER TABLE nodes ADD COLUMN place text NOT NULL DEFAULT '', ADD COLUMN config_digest text, ADD COLUMN peer_url text,
    ADD COLUMN skew_ms double precision;
  ALTER TABLE lanes ADD COLUMN node bigint NOT NULL DEFAULT 0;
  CREATE INDEX open_requests_by_holder ON open_requests (holder);
  CREATE INDEX open_executions_by_holder ON open_executions (holder);
  CREATE INDEX letters_by_holder ON letters (holder);
  CREATE INDEX deliveries_by_holder ON deliveries (holder) WHERE state = 'due';
  CREATE INDEX push_configs_by_holder ON push_configs (holder) WHERE is_over = 0;
  CREATE UNLOGGED TABLE node_calls (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    caller bigint NOT NULL,
    callee bigint NOT NULL,
    text text NOT NULL,
    is_taken boolean NOT NULL DEFAULT false,
    answer text,
    at timestamptz NOT NULL DEFAULT clock_timestamp()
  );
  CREATE INDEX node_calls_waiting ON node_calls (callee) WHERE NOT is_taken;
  CREATE INDEX open_requests_handed_over ON open_requests (holder) WHERE epoch = 0;
  CREATE TABLE agent_lines (
    agent_id text NOT NULL,
    node bigint NOT NULL,
    since timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (agent_id, node)
  )
  `,
  // The number of changes of each family, of which every process has a copy in memory.
  `
  CREATE TABLE families (name text PRIMARY KEY, version bigint NOT NULL) WITH (fillfactor = 10);
  CREATE INDEX registrations_by_spelling ON registrations (lower(agent_id))
  `,
  'CREATE INDEX ended_requests_by_time ON ended_requests (ended_at, request, agent_id, ending)',
  // The version of the tables that a node must know, and the version that each node knows.
  'ALTER TABLE schema_version ADD COLUMN least_steps integer NOT NULL DEFAULT 1',
  'ALTER TABLE nodes ADD COLUMN steps integer NOT NULL DEFAULT 0',
  // PostgreSQL can be built without lz4. Its default compression takes most of the time in which it writes frames.
  `
  DO $$ BEGIN
    IF (SELECT 'lz4' = ANY (enumvals) FROM pg_settings WHERE name = 'default_toast_compression') THEN
      ALTER TABLE frames ALTER COLUMN "text" SET COMPRESSION lz4;
    END IF;
  END $$
  `,
].map((step) => step.replaceAll(/(\w+) text\b/g, '$1 text COLLATE "C"'));

/**
 * How many of the steps a node must know to work with the tables as they are now. Nodes that know fewer are refused.
 */
export const LEAST_STEPS = 6;
