import { crc32 } from 'node:zlib';
import type { Database } from '../sqlite-engine.ts';
import { requireStorable } from '../storable.ts';
import type {
  EarlierRange,
  Letter,
  NewDelivery,
  RequestKey,
  SessionKey,
  ThreadListView,
  ThreadMessage,
  ThreadMessageRow,
  ThreadPage,
  ThreadRange,
  ThreadSummary,
  ThreadView,
} from '../store.ts';
import { StoreError } from '../store-error.ts';
import { epochOf } from './commits.ts';
import { outboxWrites } from './outbox.ts';
import type { LetterValues } from './values.ts';

export function threadReads(database: Database) {
  const sent = database.prepare(`
    SELECT owner, request_id AS "requestId" FROM requests
    WHERE owner >= ? AND owner < ? AND request_id = ? LIMIT 2`);
  const has = database.prepare(HAS_MESSAGE);
  const questionsAt = database.prepare(`
    SELECT message_id AS "messageId" FROM thread_messages
    WHERE owner = ? AND thread_id = ? AND at = ? AND is_answer = 0`);
  const ofOwner = database.prepare(`
    ${SELECT_MESSAGE} WHERE owner = ?2 AND thread_id = ?3 AND sequence > ?4 ORDER BY sequence LIMIT ?5`);
  const ofAgent = database.prepare(`
    ${SELECT_MESSAGE} WHERE owner = ?2 AND thread_id = ?3 AND sequence > ?4 AND agent_id = ?5 ORDER BY sequence LIMIT ?6`);
  const lastWriter = database.prepare(
    'SELECT owner FROM thread_messages WHERE agent_id = ? AND thread_id = ? ORDER BY at DESC, sequence DESC LIMIT 1',
  );
  const nextOfOwner = database.prepare(
    'SELECT thread_id AS "threadId" FROM thread_messages WHERE owner = ? AND thread_id > ? ORDER BY thread_id LIMIT 1',
  );
  const nextOfAgent = database.prepare(
    'SELECT thread_id AS "threadId" FROM thread_messages WHERE agent_id = ? AND thread_id > ? ORDER BY thread_id LIMIT 1',
  );
  const countOf = database.prepare(`
    SELECT count(*) AS messages FROM thread_messages WHERE owner = ? AND thread_id = ? AND agent_id = COALESCE(?, agent_id)`);
  const lastOf = database.prepare(`
    SELECT agent_id AS "agentId", at AS "lastAt" FROM thread_messages
    WHERE owner = ? AND thread_id = ? AND agent_id = COALESCE(?, agent_id) ORDER BY sequence DESC LIMIT 1`);
  const placeOf = database.prepare(`
    SELECT MAX(sequence) AS sequence FROM thread_messages
    WHERE owner = ? AND thread_id = ? AND message_id = ? AND is_answer = 0`);
  const isOwed = database.prepare('SELECT 1 FROM letters WHERE owner = ? AND request_id = ?');
  const newest = database.prepare(`
    SELECT ${MESSAGE} FROM thread_messages
    WHERE owner = ?2 AND thread_id = ?3 AND sequence < ?4 AND agent_id = ?5 ORDER BY sequence DESC LIMIT ?6`);
  const whole = database.prepare('SELECT text FROM thread_messages WHERE owner = ? AND thread_id = ? AND sequence = ?');

  const ownerOf = (view: ThreadView): string | undefined => {
    if ('owner' in view) return view.owner;
    return (lastWriter.get(view.agentId, view.threadId) as { owner: string } | undefined)?.owner;
  };

  /** The number of a question in its thread: earlier messages have lower numbers. */
  const numberOf = ({ owner, sessionId }: SessionKey, messageId: string): number => {
    // Not recorded yet, so all messages are before it, including one with its id that outlived its request.
    if (isOwed.get(owner, messageId) === undefined) return Number.MAX_SAFE_INTEGER;
    const place = placeOf.get(owner, sessionId, messageId) as { sequence: number | null };
    // Without a number, the thread has deleted it and everything before it.
    return place.sequence ?? 0;
  };

  return {
    sentBy: (ownerPrefix: string, requestId: string): RequestKey[] =>
      sent.all(ownerPrefix, ownerPrefix + LAST_CHARACTER, requestId) as RequestKey[],

    threadHas: (owner: string, threadId: string, messageId: string): boolean =>
      has.get(owner, threadId, messageId) !== undefined,

    requestIdsAt: (owner: string, threadId: string, at: number): string[] =>
      (questionsAt.all(owner, threadId, at) as { messageId: string }[]).map(({ messageId }) => messageId),

    /** One step into the index finds the next thread, however many messages the one before has. */
    listThreads(view: ThreadListView, { after, limit }: { after: string; limit: number }): ThreadSummary[] {
      const [next, name] = 'owner' in view ? [nextOfOwner, view.owner] : [nextOfAgent, view.agentId];
      // An agent must not learn of messages to other agents in the same thread.
      const onlyAgent = 'owner' in view ? null : view.agentId;
      const found: ThreadSummary[] = [];
      let row = next.get(name, after) as { threadId: string } | undefined;
      while (row !== undefined && found.length < limit) {
        const { threadId } = row;
        const owner = ownerOf({ ...view, threadId }) ?? '';
        const { messages } = countOf.get(owner, threadId, onlyAgent) as { messages: number };
        const last = lastOf.get(owner, threadId, onlyAgent) as Pick<ThreadSummary, 'agentId' | 'lastAt'>;
        found.push({ owner, threadId, messages, ...last });
        row = next.get(name, threadId) as { threadId: string } | undefined;
      }
      return found;
    },

    threadPage(view: ThreadView, { after, limit, maxBytes }: ThreadRange): ThreadPage {
      const { threadId } = view;
      const owner = ownerOf(view);
      if (owner === undefined) return { rows: [], more: false };
      const found = (
        'owner' in view
          ? ofOwner.iterate(maxBytes, owner, threadId, after, limit + 1)
          : ofAgent.iterate(maxBytes, owner, threadId, after, view.agentId, limit + 1)
      ) as Iterable<StoredMessage & Pick<ThreadMessageRow, 'agentId' | 'sequence'>>;
      const rows: ThreadMessageRow[] = [];
      let left = maxBytes;
      for (const row of found) {
        left -= messageBytesOf(row);
        if (rows.length === limit || (left < 0 && rows.length > 0)) return { rows, more: true };
        rows.push(checkedMessage(row, row.text ?? (whole.get(owner, threadId, row.sequence) as { text: string }).text));
      }
      return { rows, more: false };
    },

    latestInThread(key: SessionKey, { before, limit, maxBytes }: EarlierRange): ThreadMessage[] {
      const { owner, sessionId, agentId } = key;
      const end = numberOf(key, before);
      const messages: ThreadMessage[] = [];
      let left = maxBytes;
      for (const row of newest.iterate(maxBytes, owner, sessionId, end, agentId, limit) as Iterable<StoredMessage>) {
        left -= messageBytesOf(row);
        if (row.text === null || left < 0) break;
        messages.push(checkedMessage(row, row.text));
      }
      return messages.reverse();
    },
  };
}

export function threadWrites(database: Database) {
  const epoch = epochOf(database);
  const unclaimed = database.prepare(`
    SELECT owner, request_id AS "requestId", agent_id AS "agentId", thread_id AS "threadId", accepted_at AS "acceptedAt"
    FROM letters WHERE epoch < ? ORDER BY accepted_at, owner, request_id LIMIT ?`);
  const claim = database.prepare(`UPDATE letters SET epoch = ${epoch} WHERE owner = ? AND request_id = ?`);
  const find = database.prepare(
    'SELECT agent_id AS "agentId", thread_id AS "threadId" FROM letters WHERE owner = ? AND request_id = ?',
  );
  const close = database.prepare('DELETE FROM letters WHERE owner = ? AND request_id = ?');
  const forgetQuestion = database.prepare(
    'DELETE FROM thread_messages WHERE owner = ? AND thread_id = ? AND message_id = ? AND is_answer = 0',
  );
  const append = prepareAppend(database);
  const noteEnd = prepareNoteEnd(database);
  const { addDelivery } = outboxWrites(database);
  const has = database.prepare(HAS_MESSAGE);
  const hasDelivery = database.prepare('SELECT 1 FROM deliveries WHERE id = ?');

  return {
    claimLetters(limit: number): Letter[] {
      const letters = unclaimed.all(epoch, limit) as Letter[];
      for (const { owner, requestId } of letters) claim.run(owner, requestId);
      return letters;
    },

    dropLetter({ owner, requestId }: RequestKey): void {
      const letter = find.get(owner, requestId) as Pick<Letter, 'threadId'> | undefined;
      if (letter !== undefined && letter.threadId !== null) {
        noteEnd(owner, letter.threadId);
        forgetQuestion.run(owner, letter.threadId, requestId);
      }
      close.run(owner, requestId);
    },

    addToLetter(
      { owner, requestId }: RequestKey,
      { message, delivery, keep }: { message: ThreadMessage; delivery: NewDelivery | null; keep: number },
    ): boolean {
      const letter = find.get(owner, requestId) as Pick<Letter, 'agentId' | 'threadId'> | undefined;
      if (letter === undefined) return false;
      const { agentId, threadId } = letter;
      if (threadId !== null && has.get(owner, threadId, message.messageId) !== undefined) return false;
      if (delivery !== null && hasDelivery.get(delivery.id) !== undefined) return false;
      if (threadId !== null) append({ owner, agentId, threadId }, message, keep);
      if (delivery !== null) addDelivery(delivery);
      return true;
    },

    settleLetter(
      key: RequestKey,
      { message, delivery, keep }: { message: ThreadMessage | null; delivery: NewDelivery | null; keep: number },
    ): boolean {
      const letter = find.get(key.owner, key.requestId) as Pick<Letter, 'agentId' | 'threadId'> | undefined;
      if (letter === undefined) return false;
      if (message !== null && letter.threadId !== null) {
        append({ ...letter, owner: key.owner, threadId: letter.threadId }, message, keep);
      }
      if (delivery !== null) addDelivery(delivery);
      close.run(key.owner, key.requestId);
      return true;
    },
  };
}

/** Prepares recording the letter of a mailbox request and its message in the thread. */
export function prepareLetter(database: Database) {
  const insert = database.prepare(`
    INSERT INTO letters (owner, request_id, agent_id, thread_id, accepted_at, epoch)
    VALUES (?, ?, ?, ?, ?, ${epochOf(database)})
    ON CONFLICT (owner, request_id) DO UPDATE SET agent_id = excluded.agent_id, thread_id = excluded.thread_id,
      accepted_at = excluded.accepted_at, epoch = excluded.epoch`);
  const append = prepareAppend(database);

  return ({ owner, requestId, agentId, threadId, acceptedAt }: Letter, [, text, keep]: LetterValues): void => {
    insert.run(owner, requestId, agentId, threadId, acceptedAt);
    if (threadId === null) return;
    append({ owner, threadId, agentId }, { messageId: requestId, isAnswer: false, text, at: acceptedAt }, keep);
  };
}

function prepareAppend(database: Database) {
  const last = database.prepare(`
    SELECT MAX(
      COALESCE((SELECT MAX(sequence) FROM thread_messages WHERE owner = ?1 AND thread_id = ?2), 0),
      COALESCE((SELECT last FROM thread_ends WHERE owner = ?1 AND thread_id = ?2), 0)) AS last`);
  const insert = database.prepare(`
    INSERT INTO thread_messages (owner, thread_id, sequence, agent_id, message_id, is_answer, text, at, checksum)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const forgetOld = database.prepare('DELETE FROM thread_messages WHERE owner = ? AND thread_id = ? AND sequence <= ?');

  return ({ owner, threadId, agentId }: ThreadPlace, message: ThreadMessage, keep: number): void => {
    requireStorable(owner, threadId, agentId, message.messageId, message.text);
    const sequence = (last.get(owner, threadId) as { last: number }).last + 1;
    const { messageId, isAnswer, text, at } = message;
    insert.run(owner, threadId, sequence, agentId, messageId, isAnswer ? 1 : 0, text, at, crc32(text));
    if (sequence > keep) forgetOld.run(owner, threadId, sequence - keep);
  };
}

/** Prepares recording the last number of a thread. Call it before removing messages: numbers continue after it. */
export function prepareNoteEnd(database: Database) {
  const note = database.prepare(`
    INSERT INTO thread_ends (owner, thread_id, last, at)
    SELECT owner, thread_id, sequence, at FROM thread_messages
    WHERE owner = ? AND thread_id = ? ORDER BY sequence DESC LIMIT 1
    ${OR_THE_LATER}`);
  return (owner: string, threadId: string): void => {
    note.run(owner, threadId);
  };
}

/** The owner's thread, and the agent of a message. */
interface ThreadPlace {
  readonly owner: string;
  readonly threadId: string;
  readonly agentId: string;
}

export function threadRemovals(database: Database) {
  const oldest = 'SELECT owner, thread_id, sequence, at FROM thread_messages WHERE at < ? ORDER BY at, rowid LIMIT ?';
  const noteEnds = database.prepare(`
    INSERT INTO thread_ends (owner, thread_id, last, at)
    SELECT owner, thread_id, sequence, at FROM (${oldest}) m
    WHERE NOT EXISTS (
      SELECT 1 FROM thread_messages n WHERE n.owner = m.owner AND n.thread_id = m.thread_id AND n.sequence > m.sequence)
    ${OR_THE_LATER}`);
  const purge = database.prepare(`
    DELETE FROM thread_messages WHERE (owner, thread_id, sequence) IN (
      SELECT owner, thread_id, sequence FROM (${oldest}))`);
  const purgeEnds = database.prepare(`
    DELETE FROM thread_ends WHERE rowid IN (SELECT rowid FROM thread_ends WHERE at < ? LIMIT ?)`);
  const noteEnd = prepareNoteEnd(database);
  const forget = database.prepare(`
    DELETE FROM thread_messages WHERE (owner, thread_id, sequence) IN (
      SELECT owner, thread_id, sequence FROM thread_messages m
      WHERE m.owner = ? AND m.thread_id = ? AND m.agent_id = ? AND NOT EXISTS (
        SELECT 1 FROM letters l WHERE l.owner = m.owner AND l.request_id = m.message_id) LIMIT ?)`);

  return {
    /** Deletes some messages to an agent and from it; 0 when only unanswered ones are left. */
    deleteThread({ owner, agentId, sessionId }: SessionKey): number {
      noteEnd(owner, sessionId);
      return Number(forget.run(owner, sessionId, agentId, PURGE_WINDOW).changes);
    },

    /** Deletes some messages per call; 0 when none is left. */
    purgeThreads(before: number): number {
      noteEnds.run(before, PURGE_WINDOW);
      return Number(purge.run(before, PURGE_WINDOW).changes);
    },

    /** Deletes the last numbers of some threads per call; 0 when none is left. */
    purgeThreadEnds: (before: number): number => Number(purgeEnds.run(before, PURGE_WINDOW).changes),
  };
}

export interface StoredMessage extends Omit<ThreadMessage, 'isAnswer' | 'text'> {
  readonly isAnswer: number;
  readonly checksum: number;
  /** Null if the text alone is longer than requested, so that it was not read. */
  readonly text: string | null;
}

export function messageBytesOf({ text }: StoredMessage): number {
  return text === null ? Number.POSITIVE_INFINITY : Buffer.byteLength(text);
}

export function checkedMessage<Row extends StoredMessage>({ checksum, ...row }: Row, text: string) {
  if (checksum !== crc32(text)) {
    throw new StoreError('store_damaged', `Message ${row.messageId} of a thread is damaged in the database.`);
  }
  return { ...row, text, isAnswer: row.isAnswer === 1 };
}

const HAS_MESSAGE = 'SELECT 1 FROM thread_messages WHERE owner = ? AND thread_id = ? AND message_id = ? LIMIT 1';

/** Sorts after every other character. */
export const LAST_CHARACTER = '\u{10ffff}';

/** The first value limits the bytes of a text that is read. */
const MESSAGE = `
  message_id AS "messageId", is_answer AS "isAnswer", at, checksum, CASE WHEN octet_length(text) <= ?1 THEN text END AS text`;

const SELECT_MESSAGE = `SELECT sequence, agent_id AS "agentId", ${MESSAGE} FROM thread_messages`;

/** Messages may be removed in any order and more than once, so the later values are kept. */
const OR_THE_LATER = `
  ON CONFLICT (owner, thread_id) DO UPDATE SET last = MAX(last, excluded.last), at = MAX(at, excluded.at)`;

const PURGE_WINDOW = 200;
