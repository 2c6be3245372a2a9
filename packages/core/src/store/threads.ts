import type { NewDelivery } from './outbox.ts';
import type { RequestKey, SessionKey } from './store.ts';

/**
 * A mailbox message whose answer still has to be put where it belongs: into its thread, and into the outbox. It is recorded
 * with the request and goes with the answer, so that a restart knows what is still owed.
 */
export interface Letter extends RequestKey {
  readonly agentId: string;
  /** Null when it belongs to none. */
  readonly threadId: string | null;
  /** Epoch milliseconds. */
  readonly acceptedAt: number;
}

/** A letter as it is recorded with its request, in one commit (`RequestStore.accept`). */
export interface NewLetter {
  /** Where the message is kept with its answer; null when it belongs to no thread. */
  readonly thread: {
    readonly threadId: string;
    /** The message as JSON text. */
    readonly text: string;
    /** Messages the thread keeps. */
    readonly keep: number;
  } | null;
}

/** One message in a thread: what was asked, or what was answered. */
export interface ThreadMessage {
  readonly messageId: string;
  readonly isAnswer: boolean;
  /** The message as JSON text, as it is on the wire. */
  readonly text: string;
  readonly at: number;
}

export interface ThreadMessageRow extends ThreadMessage {
  readonly agentId: string;
  /** Counts from 1 in the owner's thread, whoever answers; no number comes twice, also where messages were removed. */
  readonly sequence: number;
}

/** A thread as somebody sees it who takes part in it: its owner all of it, an agent what it had a part in. */
export type ThreadView =
  | { readonly owner: string; readonly threadId: string }
  | { readonly agentId: string; readonly threadId: string };

/** A thread in a list. */
export interface ThreadSummary {
  readonly owner: string;
  readonly threadId: string;
  /** Who answered last, or was asked last. */
  readonly agentId: string;
  /** Of those that are kept. */
  readonly messages: number;
  readonly lastAt: number;
}

/** Whose threads: those of an owner, or those in which an agent was asked. */
export type ThreadListView = { readonly owner: string } | { readonly agentId: string };

export interface ThreadPage {
  readonly rows: readonly ThreadMessageRow[];
  /** Whether there is more behind the last row. */
  readonly more: boolean;
}

/** Some of a thread from its beginning, or from behind a message. */
export interface ThreadRange {
  readonly after: number;
  readonly limit: number;
  /** Of text, unless the first message alone is larger. */
  readonly maxBytes: number;
}

/** What was said before a message. */
export interface SaidRange {
  /** The id of the message. */
  readonly before: string;
  readonly limit: number;
  /** Of text: what is larger, and what came before that, is left out. */
  readonly maxBytes: number;
}

export interface ThreadStore {
  /** Its request is gone: forgets the letter and its message. */
  drop(key: RequestKey): Promise<void>;
  /**
   * Puts the answer into the thread and the callback into the outbox, in one commit. False, and nothing done, when that was
   * done before.
   */
  settle(
    key: RequestKey,
    answer: { readonly message: ThreadMessage | null; readonly delivery: NewDelivery | null; readonly keep: number },
  ): Promise<boolean>;
  /**
   * Puts one more message into the thread of a letter that is not settled, and a callback into the outbox, in one commit. False, and
   * nothing done, when the letter is settled or that was done before: the thread has a message of that id, or the outbox the delivery.
   */
  add(
    key: RequestKey,
    told: { readonly message: ThreadMessage; readonly delivery: NewDelivery | null; readonly keep: number },
  ): Promise<boolean>;
  /** Takes over at most `limit` letters that are not settled and whose process is gone, oldest first. */
  claim(limit: number): Promise<Letter[]>;
  /** The requests of this id by owners whose names begin so; two are enough to know that there are several. */
  sentBy(ownerPrefix: string, requestId: string): Promise<RequestKey[]>;
  /** Whether the owner's thread has a message of this id. */
  has(owner: string, threadId: string, messageId: string): Promise<boolean>;
  /** The ids of what was asked in the owner's thread at this very millisecond. */
  askedAt(owner: string, threadId: string, at: number): Promise<string[]>;
  /** Threads whose id comes after `after`, in the order of their ids. Of an agent, each is that of the owner who wrote last. */
  list(view: ThreadListView, range: { readonly after: string; readonly limit: number }): Promise<ThreadSummary[]>;
  /** The messages after `after` in order. An agent sees the thread of the owner who wrote last. */
  page(view: ThreadView, range: ThreadRange): Promise<ThreadPage>;
  /** The newest messages of a conversation that stand before this one in the thread, oldest first. */
  latest(key: SessionKey, range: SaidRange): Promise<ThreadMessage[]>;
  /** Forgets messages older than that, and how far threads had counted whose last one was. Returns how many messages. */
  purge(before: { readonly messages: number; readonly counts: number }): Promise<number>;
}
