import { requireStorable } from '../storable.ts';
import type {
  Letter,
  NewDelivery,
  NewLetter,
  RequestRow,
  SessionKey,
  ThreadMessage,
  ThreadMessageRow,
  ThreadStore,
  ThreadView,
} from '../store.ts';
import type { Forgets, ForgetsRequest } from './forgetting.ts';
import { nameOf } from './name-of.ts';
import type { Perform } from './perform.ts';

/** What threads need of the store around them. */
export interface MemoryThreadsOptions {
  readonly perform: Perform;
  /** In the order they came. */
  readonly requests: () => readonly RequestRow[];
  readonly addDelivery: (delivery: NewDelivery) => void;
}

/** Letters and threads in memory. */
export function memoryThreads({
  perform,
  requests,
  addDelivery,
}: MemoryThreadsOptions): ThreadStore & Forgets<'threadMessages'> & ForgetsRequest & ForgetsSession & OpensLetters {
  const letters = new Map<string, Letter>();
  const threads = new Map<string, Thread>();

  const append = (letter: Letter, message: ThreadMessage, keep: number): void => {
    const { owner, agentId, threadId } = letter;
    if (threadId === null) return;
    requireStorable(owner, threadId, agentId, message.messageId, message.text);
    const name = nameOf(owner, threadId);
    const thread = threads.get(name) ?? { owner, threadId, last: 0, at: 0, rows: [] };
    threads.set(name, thread);
    thread.last += 1;
    thread.at = Math.max(thread.at, message.at);
    thread.rows.push({ ...message, agentId, sequence: thread.last });
    while ((thread.rows[0]?.sequence ?? 0) <= thread.last - keep && thread.rows.length > 0) thread.rows.shift();
  };
  const viewed = (view: ThreadView): readonly ThreadMessageRow[] => {
    if ('owner' in view) return threads.get(nameOf(view.owner, view.threadId))?.rows ?? [];
    const { agentId, threadId } = view;
    const own = [...threads.values()]
      .filter((thread) => thread.threadId === threadId)
      .map(({ rows }) => rows.filter((row) => row.agentId === agentId))
      .filter((rows) => rows.length > 0);
    const at = (rows: readonly ThreadMessageRow[]) => Math.max(...rows.map((row) => row.at));
    return own.reduce((latest, rows) => (latest.length === 0 || at(rows) > at(latest) ? rows : latest), []);
  };

  return {
    forget: (owner) => {
      const own = [...threads].filter(([, thread]) => thread.owner === owner);
      for (const [name] of own) threads.delete(name);
      return { threadMessages: own.reduce((sum, [, { rows }]) => sum + rows.length, 0) };
    },
    owes: ({ owner, requestId }) => letters.has(nameOf(owner, requestId)),
    forgetRequest: ({ owner, requestId }) => {
      let had = false;
      for (const thread of threads.values()) {
        if (thread.owner !== owner) continue;
        const kept = thread.rows.filter((row) => idAsked(row) !== requestId);
        had ||= kept.length < thread.rows.length;
        thread.rows = kept;
      }
      return had;
    },
    forgetSession: ({ owner, agentId, sessionId }) => {
      const thread = threads.get(nameOf(owner, sessionId));
      if (thread === undefined) return false;
      const had = thread.rows.length;
      // What is not answered yet stays.
      thread.rows = thread.rows.filter((row) => row.agentId !== agentId || letters.has(nameOf(owner, row.messageId)));
      return thread.rows.length < had;
    },
    openLetter: ({ owner, requestId, agentId, acceptedAt }, { thread }) => {
      const letter = { owner, requestId, agentId, acceptedAt, threadId: thread?.threadId ?? null };
      letters.set(nameOf(owner, requestId), letter);
      if (thread === null) return;
      append(letter, { messageId: requestId, isAnswer: false, text: thread.text, at: acceptedAt }, thread.keep);
    },
    drop: ({ owner, requestId }) =>
      perform(() => {
        const letter = letters.get(nameOf(owner, requestId));
        letters.delete(nameOf(owner, requestId));
        const thread = letter?.threadId == null ? undefined : threads.get(nameOf(owner, letter.threadId));
        if (thread === undefined) return;
        thread.rows = thread.rows.filter((row) => row.isAnswer || row.messageId !== requestId);
      }),
    settle: (key, { message, delivery, keep }) =>
      perform(() => {
        const letter = letters.get(nameOf(key.owner, key.requestId));
        if (letter === undefined) return false;
        if (message !== null) append(letter, message, keep);
        if (delivery !== null) addDelivery(delivery);
        letters.delete(nameOf(key.owner, key.requestId));
        return true;
      }),
    pending: () => perform(() => [...letters.values()].sort((a, b) => a.acceptedAt - b.acceptedAt)),
    sentBy: (ownerPrefix, requestId) =>
      perform(() => {
        const sent = requests().filter((one) => one.requestId === requestId && one.owner.startsWith(ownerPrefix));
        return sent.slice(0, 2).map(({ owner }) => ({ owner, requestId }));
      }),
    has: (owner, threadId, messageId) =>
      perform(() => (threads.get(nameOf(owner, threadId))?.rows ?? []).some((row) => row.messageId === messageId)),
    askedAt: (owner, threadId, at) =>
      perform(() =>
        (threads.get(nameOf(owner, threadId))?.rows ?? [])
          .filter((row) => row.at === at && !row.isAnswer)
          .map(({ messageId }) => messageId),
      ),
    page: (view, { after, limit, maxBytes }) =>
      perform(() => {
        const rows = viewed(view).filter((row) => row.sequence > after);
        const end = Math.min(limit, Math.max(1, fitting(rows, maxBytes)));
        return { rows: rows.slice(0, end), more: rows.length > end };
      }),
    latest: ({ owner, agentId, sessionId }, { before, limit, maxBytes }) =>
      perform(() => {
        const { rows } = threads.get(nameOf(owner, sessionId)) ?? { rows: [] };
        // The newest of its id: a message outlives its request, and then its id may be another's.
        const place = rows.findLast((row) => row.messageId === before && !row.isAnswer)?.sequence;
        // The thread has forgotten it, and whatever was before it; or it is not recorded yet, and all there is was before it.
        const end = letters.has(nameOf(owner, before)) ? (place ?? 0) : Number.MAX_SAFE_INTEGER;
        const said = rows.filter((row) => row.agentId === agentId && row.sequence < end).reverse();
        return said.slice(0, Math.min(limit, fitting(said, maxBytes))).reverse();
      }),
    purge: ({ messages, counts }) =>
      perform(() => {
        let purged = 0;
        for (const [name, thread] of threads) {
          const kept = thread.rows.filter((row) => row.at >= messages);
          purged += thread.rows.length - kept.length;
          thread.rows = kept;
          if (kept.length === 0 && thread.at < counts) threads.delete(name);
        }
        return purged;
      }),
  };
}

/** How many of the first have no more bytes of text together than this. */
function fitting(rows: readonly ThreadMessageRow[], maxBytes: number): number {
  let bytes = 0;
  const end = rows.findIndex(({ text }) => {
    bytes += Buffer.byteLength(text);
    return bytes > maxBytes;
  });
  return end === -1 ? rows.length : end;
}

/** Of the message itself, or of that which it answers. */
function idAsked({ messageId, isAnswer, text }: ThreadMessage): string | undefined {
  return isAnswer ? (JSON.parse(text) as { replyTo?: string }).replyTo : messageId;
}

/** For who forgets a session, and performs something already. */
export interface ForgetsSession {
  /** Whether anything was said in it. */
  forgetSession(key: SessionKey): boolean;
}

/** For who records a request that owes more than its answer. */
export interface OpensLetters {
  openLetter(row: RequestRow, letter: NewLetter): void;
}

interface Thread {
  readonly owner: string;
  readonly threadId: string;
  last: number;
  /** When the last one was said. */
  at: number;
  rows: ThreadMessageRow[];
}
