import type { NewDelivery } from './outbox.ts';
import type { RequestKey, SessionKey } from './store.ts';

/**
 * A mailbox message whose answer must still be put into its thread and into the outbox. It is recorded with the request and
 * removed with the answer, so that a restart continues with the open ones.
 */
export interface Letter extends RequestKey {
  readonly agentId: string;
  /** Null when it belongs to no thread. */
  readonly threadId: string | null;
  /** Epoch milliseconds. */
  readonly acceptedAt: number;
}

/** A letter as it is recorded with its request, in one commit (`RequestStore.accept`). */
export interface NewLetter {
  /** The thread that keeps the message and its answer; null when it belongs to no thread. */
  readonly thread: {
    readonly threadId: string;
    /** The message as JSON text. */
    readonly text: string;
    /** Messages the thread keeps. */
    readonly keep: number;
  } | null;
}

/** One message in a thread: a question or an answer. */
export interface ThreadMessage {
  readonly messageId: string;
  readonly isAnswer: boolean;
  /** The message as JSON text, as it is on the wire. */
  readonly text: string;
  readonly at: number;
}

export interface ThreadMessageRow extends ThreadMessage {
  readonly agentId: string;
  /** Counts from 1 in the owner's thread, over all agents; no number is used twice, even if messages were removed. */
  readonly sequence: number;
}

/** A thread as a participant sees it: its owner sees all of it, an agent only its own questions and answers. */
export type ThreadView =
  | { readonly owner: string; readonly threadId: string }
  | { readonly agentId: string; readonly threadId: string };

/** A thread in a list. */
export interface ThreadSummary {
  readonly owner: string;
  readonly threadId: string;
  /** The agent of the last message. */
  readonly agentId: string;
  /** How many messages are kept. */
  readonly messages: number;
  readonly lastAt: number;
}

/** Selects the threads of an owner, or the threads with messages to an agent. */
export type ThreadListView = { readonly owner: string } | { readonly agentId: string };

export interface ThreadPage {
  readonly rows: readonly ThreadMessageRow[];
  /** Whether more rows follow the last one. */
  readonly more: boolean;
}

/** A part of a thread. */
export interface ThreadRange {
  /** The sequence of the message before the part; 0 for the beginning. */
  readonly after: number;
  readonly limit: number;
  /** The most bytes of text, unless the first message alone is longer. */
  readonly maxBytes: number;
}

/** The messages before a message. */
export interface EarlierRange {
  /** The id of the message. */
  readonly before: string;
  readonly limit: number;
  /** The most bytes of text. The first message that exceeds it and all earlier ones are left out. */
  readonly maxBytes: number;
}

export interface ThreadStore {
  /** Deletes the letter and its message, because its request is gone. */
  drop(key: RequestKey): Promise<void>;
  /**
   * Puts the answer into the thread and the callback into the outbox, and removes the letter, in one commit. Returns
   * false and does nothing when that was done before.
   */
  settle(
    key: RequestKey,
    answer: { readonly message: ThreadMessage | null; readonly delivery: NewDelivery | null; readonly keep: number },
  ): Promise<boolean>;
  /**
   * Puts one more message into the thread of an open letter, and a callback into the outbox, in one commit. Returns
   * false and does nothing when the letter is settled, the thread has a message with this id, or the outbox has the
   * delivery.
   */
  add(
    key: RequestKey,
    addition: { readonly message: ThreadMessage; readonly delivery: NewDelivery | null; readonly keep: number },
  ): Promise<boolean>;
  /** Takes over at most `limit` open letters whose process is gone, oldest first. */
  claim(limit: number): Promise<Letter[]>;
  /** The requests, at most two, with this id whose owners have this prefix. */
  sentBy(ownerPrefix: string, requestId: string): Promise<RequestKey[]>;
  has(owner: string, threadId: string, messageId: string): Promise<boolean>;
  /** The ids of the questions that were put into the owner's thread at this millisecond. */
  requestIdsAt(owner: string, threadId: string, at: number): Promise<string[]>;
  /**
   * Threads whose id comes after `after`, in the order of their ids. For an agent, several owners may use one thread
   * id: the thread of the owner who wrote last is listed.
   */
  list(view: ThreadListView, range: { readonly after: string; readonly limit: number }): Promise<ThreadSummary[]>;
  /** The messages after `after` in order. An agent sees the thread of the owner who wrote last. */
  page(view: ThreadView, range: ThreadRange): Promise<ThreadPage>;
  /** The newest messages of a conversation before a message, oldest first. */
  latest(key: SessionKey, range: EarlierRange): Promise<ThreadMessage[]>;
  /** Deletes older messages, and the last numbers of threads whose last message is older. Returns how many messages. */
  purge(before: { readonly messages: number; readonly counts: number }): Promise<number>;
}
