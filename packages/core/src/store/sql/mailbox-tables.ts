export const MAILBOX_MIGRATION = `
  CREATE TABLE letters (
    owner TEXT NOT NULL,
    request_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    thread_id TEXT,
    accepted_at BIGINT NOT NULL,
    PRIMARY KEY (owner, request_id)
  );

  CREATE TABLE thread_messages (
    owner TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    sequence BIGINT NOT NULL,
    agent_id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    is_answer INTEGER NOT NULL,
    text TEXT NOT NULL,
    at BIGINT NOT NULL,
    checksum BIGINT NOT NULL,
    PRIMARY KEY (owner, thread_id, sequence)
  );
  CREATE INDEX thread_messages_by_agent ON thread_messages (agent_id, thread_id, at);
  CREATE INDEX thread_messages_by_id ON thread_messages (owner, thread_id, message_id);
  CREATE INDEX thread_messages_by_age ON thread_messages (at);

  CREATE TABLE deliveries (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    request_id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    url TEXT NOT NULL,
    body TEXT NOT NULL,
    priority INTEGER NOT NULL,
    expires_at BIGINT,
    created_at BIGINT NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    next_at BIGINT NOT NULL,
    failures TEXT NOT NULL,
    ended_at BIGINT,
    checksum BIGINT NOT NULL
  );
  CREATE INDEX deliveries_by_state ON deliveries (state, number);
  CREATE INDEX deliveries_by_end ON deliveries (ended_at) WHERE ended_at IS NOT NULL;

  CREATE TABLE disabled_urls (
    owner TEXT NOT NULL,
    url TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (owner, url)
  );

  CREATE TABLE signing_salts (
    agent_id TEXT PRIMARY KEY,
    salt TEXT NOT NULL
  )
  `;

/**
 * The last number of a thread and the time of its last message, recorded when messages are removed. If a number were
 * used again, readers that continue after it would miss a message.
 */
export const THREAD_END_TABLES = `
  CREATE TABLE thread_ends (
    owner TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    last BIGINT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (owner, thread_id)
  );
  CREATE INDEX thread_ends_by_age ON thread_ends (at)
  `;
