import type { AnswerEnd } from '@dragoman/protocols';
import type { RequestKey } from './store.ts';

/**
 * The progress of a request: it waits (`accepted`), an agent works on it (`started`), it has frames (`answering`), or
 * how it ended.
 */
export type RequestProgress = 'accepted' | 'started' | 'answering' | AnswerEnd;

/** How a frame changes the progress of its request: the first one, a question, its end, or the final frame. */
export interface ProgressChange {
  /** Epoch milliseconds; null counts as when the request was accepted. */
  readonly at: number | null;
  /** Absent unless the frame is the final one. */
  readonly end?: AnswerEnd | undefined;
}

/** The conditions that the listed requests meet. Absent members are no condition. */
export interface RequestQuery {
  readonly owner?: string | undefined;
  readonly agentId?: string | undefined;
  readonly sessionId?: string | undefined;
  /** Any one of these. */
  readonly progress?: readonly RequestProgress[] | undefined;
  /** Its progress last changed at this time or later. Epoch milliseconds. */
  readonly changedSince?: number | undefined;
  /** The `source_protocol` in the provenance of its envelope. */
  readonly protocol?: string | undefined;
  /** Its envelope contains this text. The case of ASCII letters is ignored. */
  readonly text?: string | undefined;
  /** It comes after this place in the list. The request at the place may be gone by now. */
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
   * How many requests the query matches, regardless of `after`. Absent without `owner`, and with `protocol` or `text`,
   * because these are not counted.
   */
  readonly total?: number | undefined;
  /**
   * A query that must skip many requests stops early, so that no caller blocks the store for long. This is then the
   * last place that it looked at; the next query continues after it.
   */
  readonly lookedUpTo?: RequestPlace | undefined;
}
