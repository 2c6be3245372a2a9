import type { AnswerEnd } from '@dragoman/protocols';
import type { RequestKey } from './store.ts';

/**
 * The progress of a request: it waits (`accepted`), an agent works on it (`started`), it has frames (`answering`), or how it
 * ended.
 */
export type RequestProgress = 'accepted' | 'started' | 'answering' | AnswerEnd;

/** A frame with which the progress of its request changes: the first one, a question, the end of a question, and the final one. */
export interface ProgressChange {
  /** Epoch milliseconds; null counts as when the request was accepted. */
  readonly at: number | null;
  /** Absent unless the frame is the final one. */
  readonly end?: AnswerEnd | undefined;
}

/** Which requests to list. Every absent member leaves a condition out. */
export interface RequestQuery {
  readonly owner?: string | undefined;
  readonly agentId?: string | undefined;
  readonly sessionId?: string | undefined;
  /** Any one of these. */
  readonly progress?: readonly RequestProgress[] | undefined;
  /** Those whose progress changed at this time or later. Epoch milliseconds. */
  readonly changedSince?: number | undefined;
  /** Those of this protocol, as the provenance of their envelopes names it. */
  readonly protocol?: string | undefined;
  /** Those whose envelope contains this text, in upper or lower case of ASCII. */
  readonly text?: string | undefined;
  /** Those that come after this one in the list, which may be gone by now. */
  readonly after?: RequestPlace | undefined;
  readonly limit: number;
}

/** The place of a request in a list: newest change first, and within one time the latest recorded. */
export interface RequestPlace extends RequestKey {
  readonly changedAt: number;
}

/** A request in a list, without its envelope and answer, which can be long. */
export interface ListedRequest extends RequestPlace {
  readonly agentId: string;
  readonly sessionId: string | null;
  /** The `source_protocol` of its envelope. */
  readonly protocol: string;
  readonly acceptedAt: number;
  /** Null for a request that ended under a version which did not record how. */
  readonly progress: RequestProgress | null;
}

export interface RequestList {
  readonly rows: readonly ListedRequest[];
  /**
   * How many the query matches, wherever `after` stands. Absent in a list of everybody's, and with `protocol` or `text`: they are
   * not counted.
   */
  readonly total?: number | undefined;
  /**
   * A query that must skip many requests stops early, so that no caller blocks the store for long. This is the last one it
   * looked at, where more follow: the next query begins after it.
   */
  readonly lookedUpTo?: RequestPlace | undefined;
}
