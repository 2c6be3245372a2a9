/** Which requests to list. Every absent member leaves a condition out. */
export interface RequestListQuery {
  /** Who answers them. */
  readonly agent?: string | undefined;
  readonly session?: string | undefined;
  readonly state?: ListedState | undefined;
  /** The protocol of the requests, as `source_protocol` names it. */
  readonly protocol?: string | undefined;
  /** Only requests whose message contains this text. */
  readonly text?: string | undefined;
  /** Those that changed at this time or later, RFC 3339. */
  readonly since?: string | undefined;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
  /** Default: 50. At most 200. */
  readonly limit?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export type ListedState = 'waiting' | 'running' | 'completed' | 'failed' | 'cancelled' | 'refused';

/** Some requests, newest change first. */
export interface RequestPage {
  readonly requests: readonly RequestSummary[];
  /** On all pages. Null in the list of all callers and with `protocol` or `text`, which are looked for page by page. */
  readonly total: number | null;
  /** Null on the last page. A page of which little matches may be short, or empty, and have a next one all the same. */
  readonly next_cursor: string | null;
}

/** A request of any protocol, without its message and its answer. */
export interface RequestSummary {
  readonly request_id: string;
  /** Who sent it. */
  readonly owner: string;
  /** Who answers it. */
  readonly agent: string;
  readonly session_id: string | null;
  /** The protocol of the request. */
  readonly protocol: string;
  readonly state: ListedState;
  readonly accepted_at: string;
  readonly changed_at: string;
}

/** A query without what is absent. */
export function queryOf(query: object): string {
  const fields = Object.entries(query).filter(([, value]) => value !== undefined);
  return fields.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&');
}

export const REQUEST_PAGE = { requests: 'array' } as const;
