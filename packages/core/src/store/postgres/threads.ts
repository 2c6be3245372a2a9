import { crc32 } from 'node:zlib';
import { checkedMessage, LAST_CHARACTER, messageBytesOf, type StoredMessage } from '../sql/threads.ts';
import { requireStorable } from '../storable.ts';
import type {
  Letter,
  NewLetter,
  RequestKey,
  RequestRow,
  SessionKey,
  ThreadMessage,
  ThreadMessageRow,
  ThreadStore,
  ThreadSummary,
  ThreadView,
} from '../store.ts';
import type { PostgresDatabase, Queries } from './database.ts';
import { GONE_NODES } from './gone.ts';
import { addDelivery } from './outbox.ts';
import { purgeInTurn } from './owner-lock.ts';

export function threadStore(database: PostgresDatabase): ThreadStore {
  const { read } = database;
  const ownerOf = async (view: ThreadView): Promise<string | undefined> =>
    'owner' in view ? view.owner : (await read.get<{ owner: string }>(LAST_WRITER, view.agentId, view.threadId))?.owner;

  return {
    drop: ({ owner, requestId }) =>
      database.write(async (queries) => {
        const letter = await queries.get<Pick<Letter, 'threadId'>>(CLOSE_LETTER, owner, requestId);
        if (letter !== undefined && letter.threadId !== null) {
          await queries.run(FORGET_QUESTION, owner, letter.threadId, requestId);
        }
      }),

    settle: ({ owner, requestId }, { message, delivery, keep }) =>
      database.write(async (queries) => {
        const letter = await queries.get<Pick<Letter, 'agentId' | 'threadId'>>(CLOSE_LETTER, owner, requestId);
        if (letter === undefined) return false;
        const { agentId, threadId } = letter;
        if (message !== null && threadId !== null) await append(queries, { owner, threadId, agentId }, message, keep);
        if (delivery !== null) await addDelivery(queries, database.node, delivery);
        return true;
      }),

    add: ({ owner, requestId }, { message, delivery, keep }) =>
      database.write(async (queries) => {
        const letter = await queries.get<Pick<Letter, 'agentId' | 'threadId'>>(LOCK_LETTER, owner, requestId);
        if (letter === undefined) return false;
        const { agentId, threadId } = letter;
        if (threadId !== null && (await queries.get(HAS, owner, threadId, message.messageId)) !== undefined)
          return false;
        if (delivery !== null && (await queries.get(HAS_DELIVERY, delivery.id)) !== undefined) return false;
        if (threadId !== null) await append(queries, { owner, threadId, agentId }, message, keep);
        if (delivery !== null) await addDelivery(queries, database.node, delivery);
        return true;
      }),

    claim: (limit) => database.write((queries) => queries.all<Letter>(CLAIM, database.node, limit)),

    sentBy: (ownerPrefix, requestId) =>
      read.all<RequestKey>(SENT_BY, ownerPrefix, ownerPrefix + LAST_CHARACTER, requestId),

    has: async (owner, threadId, messageId) => (await read.get(HAS, owner, threadId, messageId)) !== undefined,

    requestIdsAt: async (owner, threadId, at) =>
      (await read.all<{ messageId: string }>(QUESTION_IDS_AT, owner, threadId, at)).map(({ messageId }) => messageId),

    list: async (view, { after, limit }) => {
      const [column, name] = 'owner' in view ? ['owner', view.owner] : ['agent_id', view.agentId];
      // An agent must not learn of messages to other agents in the same thread.
      const onlyAgent = 'owner' in view ? null : view.agentId;
      const found: ThreadSummary[] = [];
      const threads = await read.all<{ threadId: string }>(threadsOf(column), name, after, limit);
      for (const { threadId } of threads) {
        const owner = (await ownerOf({ ...view, threadId })) ?? '';
        const summary = await read.get<Omit<ThreadSummary, 'owner' | 'threadId'>>(SUMMARY, owner, threadId, onlyAgent);
        if (summary !== undefined) found.push({ owner, threadId, ...summary });
      }
      return found;
    },

    page: async (view, { after, limit, maxBytes }) => {
      const owner = await ownerOf(view);
      if (owner === undefined) return { rows: [], more: false };
      const agentId = 'owner' in view ? null : view.agentId;
      const found = await read.all<PagedMessage>(PAGE, maxBytes, owner, view.threadId, after, agentId, limit + 1);
      const rows: ThreadMessageRow[] = [];
      let left = maxBytes;
      for (const row of found) {
        left -= messageBytesOf(row);
        if (rows.length === limit || (left < 0 && rows.length > 0)) return { rows, more: true };
        const text =
          row.text ?? (await read.get<{ text: string }>(WHOLE, owner, view.threadId, row.sequence))?.text ?? '';
        rows.push(checkedMessage(row, text));
      }
      return { rows, more: false };
    },

    latest: async (key, { before, limit, maxBytes }) => {
      const end = await numberOf(read, key, before);
      const messages: ThreadMessage[] = [];
      const rows = await read.all<StoredMessage>(LATEST, maxBytes, key.owner, key.sessionId, end, key.agentId, limit);
      for (const row of rows) {
        if (row.text === null) break;
        messages.push(checkedMessage(row, row.text));
      }
      return messages.reverse();
    },

    purge: async ({ messages, counts }) => {
      let purged = 0;
      for (let some = -1; some !== 0; purged += some) {
        some = await purgeInTurn(database, 'threads', PURGE, messages, WINDOW);
      }
      await purgeInTurn(database, 'threads', PURGE_COUNTS, counts);
      return purged;
    },
  };
}

/** Records the letter of a mailbox request, and its message in the thread. */
export async function openLetter(
  queries: Queries,
  node: number,
  row: RequestRow,
  { thread }: NewLetter,
): Promise<void> {
  const { owner, requestId, agentId, acceptedAt } = row;
  await queries.run(OPEN_LETTER, owner, requestId, agentId, thread?.threadId ?? null, acceptedAt, node);
  if (thread === null) return;
  const message = { messageId: requestId, isAnswer: false, text: thread.text, at: acceptedAt };
  await append(queries, { owner, threadId: thread.threadId, agentId }, message, thread.keep);
}

/** Deletes some of the messages to and from an agent. Returns 0 when only unanswered messages are left. */
export function deleteThread(queries: Queries, { owner, agentId, sessionId }: SessionKey): Promise<number> {
  return queries.run(DELETE_THREAD, owner, sessionId, agentId, WINDOW);
}

async function append(
  queries: Queries,
  { owner, threadId, agentId }: Omit<SessionKey, 'sessionId'> & { readonly threadId: string },
  { messageId, isAnswer, text, at }: ThreadMessage,
  keep: number,
): Promise<void> {
  requireStorable(owner, threadId, agentId, messageId, text);
  // This statement locks the row of the thread, so that two messages get different numbers.
  const { last } = (await queries.get<{ last: number }>(NEXT_NUMBER, owner, threadId, at)) ?? { last: 1 };
  await queries.run(INSERT, owner, threadId, last, agentId, messageId, isAnswer ? 1 : 0, text, at, crc32(text));
  if (last > keep) await queries.run(FORGET_OLD, owner, threadId, last - keep);
}

/** Returns the number of a message, to find the messages before it. */
async function numberOf(read: Queries, { owner, sessionId }: SessionKey, messageId: string): Promise<number> {
  // Without a letter, the message is not recorded yet. All messages are before it, including one with the same id that
  // outlived its request.
  if ((await read.get('SELECT 1 FROM letters WHERE owner = $1 AND request_id = $2', owner, messageId)) === undefined) {
    return Number.MAX_SAFE_INTEGER;
  }
  const place = await read.get<{ sequence: number | null }>(PLACE_OF, owner, sessionId, messageId);
  // Otherwise, the thread has deleted the message and everything before it.
  return place?.sequence ?? 0;
}

type PagedMessage = StoredMessage & Pick<ThreadMessageRow, 'agentId' | 'sequence'>;

const CLOSE_LETTER = `
  DELETE FROM letters WHERE owner = $1 AND request_id = $2 RETURNING agent_id AS "agentId", thread_id AS "threadId"`;
const LOCK_LETTER = `
  SELECT agent_id AS "agentId", thread_id AS "threadId" FROM letters WHERE owner = $1 AND request_id = $2 FOR UPDATE`;
const HAS_DELIVERY = 'SELECT 1 FROM deliveries WHERE id = $1';
const FORGET_QUESTION =
  'DELETE FROM thread_messages WHERE owner = $1 AND thread_id = $2 AND message_id = $3 AND is_answer = 0';
const OPEN_LETTER = `
  INSERT INTO letters (owner, request_id, agent_id, thread_id, accepted_at, holder) VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (owner, request_id) DO UPDATE SET agent_id = excluded.agent_id, thread_id = excluded.thread_id,
    accepted_at = excluded.accepted_at, holder = excluded.holder`;
const CLAIM = `
  WITH left_open AS (
    SELECT owner, request_id FROM letters WHERE holder IN (${GONE_NODES}) ORDER BY accepted_at, owner, request_id LIMIT $2 FOR UPDATE SKIP LOCKED
  ), claimed AS (
    UPDATE letters l SET holder = $1 FROM left_open o WHERE l.owner = o.owner AND l.request_id = o.request_id
    RETURNING l.owner, l.request_id, l.agent_id, l.thread_id, l.accepted_at
  )
  SELECT owner, request_id AS "requestId", agent_id AS "agentId", thread_id AS "threadId", accepted_at AS "acceptedAt"
  FROM claimed ORDER BY accepted_at, owner, request_id`;
const SENT_BY = `
  SELECT owner, request_id AS "requestId" FROM requests WHERE owner >= $1 AND owner < $2 AND request_id = $3 LIMIT 2`;
const HAS = 'SELECT 1 FROM thread_messages WHERE owner = $1 AND thread_id = $2 AND message_id = $3 LIMIT 1';
const QUESTION_IDS_AT = `
  SELECT message_id AS "messageId" FROM thread_messages WHERE owner = $1 AND thread_id = $2 AND at = $3 AND is_answer = 0
  ORDER BY sequence`;
const LAST_WRITER =
  'SELECT owner FROM thread_messages WHERE agent_id = $1 AND thread_id = $2 ORDER BY at DESC, sequence DESC LIMIT 1';
const threadsOf = (column: string) => `
  SELECT DISTINCT thread_id AS "threadId" FROM thread_messages WHERE ${column} = $1 AND thread_id > $2 ORDER BY 1 LIMIT $3`;
const SUMMARY = `
  SELECT agent_id AS "agentId", at AS "lastAt", COUNT(*) OVER () AS messages FROM thread_messages
  WHERE owner = $1 AND thread_id = $2 AND ($3::text IS NULL OR agent_id = $3) ORDER BY sequence DESC LIMIT 1`;
const PLACE_OF = `
  SELECT MAX(sequence) AS sequence FROM thread_messages
  WHERE owner = $1 AND thread_id = $2 AND message_id = $3 AND is_answer = 0`;
/** The parameter $1 limits the bytes of all texts together: a text beyond the limit is null. */
const MESSAGE = (order: string) => `
  sequence, agent_id AS "agentId", message_id AS "messageId", is_answer AS "isAnswer", at, checksum,
  CASE WHEN SUM(octet_length(text)) OVER (ORDER BY sequence ${order}) <= $1 THEN text END AS text`;
const PAGE = `
  SELECT ${MESSAGE('ASC')} FROM (
    SELECT * FROM thread_messages WHERE owner = $2 AND thread_id = $3 AND sequence > $4 AND ($5::text IS NULL OR agent_id = $5)
    ORDER BY sequence LIMIT $6) AS page
  ORDER BY sequence`;
const LATEST = `
  SELECT "messageId", "isAnswer", at, checksum, text FROM (
    SELECT ${MESSAGE('DESC')} FROM (
      SELECT * FROM thread_messages WHERE owner = $2 AND thread_id = $3 AND sequence < $4 AND agent_id = $5
      ORDER BY sequence DESC LIMIT $6) AS page) AS measured
  ORDER BY sequence DESC`;
const WHOLE = 'SELECT text FROM thread_messages WHERE owner = $1 AND thread_id = $2 AND sequence = $3';
const NEXT_NUMBER = `
  INSERT INTO thread_counts (owner, thread_id, last, at) VALUES ($1, $2, 1, $3)
  ON CONFLICT (owner, thread_id) DO UPDATE SET last = thread_counts.last + 1, at = GREATEST(thread_counts.at, excluded.at)
  RETURNING last`;
const INSERT = `
  INSERT INTO thread_messages (owner, thread_id, sequence, agent_id, message_id, is_answer, text, at, checksum)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`;
const FORGET_OLD = 'DELETE FROM thread_messages WHERE owner = $1 AND thread_id = $2 AND sequence <= $3';
const PURGE = `
  DELETE FROM thread_messages WHERE (owner, thread_id, sequence) IN (
    SELECT owner, thread_id, sequence FROM thread_messages WHERE at < $1 ORDER BY at LIMIT $2)`;
const PURGE_COUNTS = `
  DELETE FROM thread_counts c WHERE c.at < $1 AND NOT EXISTS (
    SELECT 1 FROM thread_messages m WHERE m.owner = c.owner AND m.thread_id = c.thread_id)`;
const DELETE_THREAD = `
  DELETE FROM thread_messages WHERE (owner, thread_id, sequence) IN (
    SELECT owner, thread_id, sequence FROM thread_messages m
    WHERE m.owner = $1 AND m.thread_id = $2 AND m.agent_id = $3 AND NOT EXISTS (
      SELECT 1 FROM letters l WHERE l.owner = m.owner AND l.request_id = m.message_id) LIMIT $4)`;
const WINDOW = 200;
