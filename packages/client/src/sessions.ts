import type { Json, JsonObject } from '@dragoman/protocols';

export interface Session {
  readonly session_id: string;
  readonly agent_id: string;
  readonly title: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

/** The place of a page among all. Pages are counted from 1. */
export interface Page {
  readonly page_idx: number;
  readonly total_pages: number;
  readonly total: number;
}

export interface SessionPage extends Page {
  readonly sessions: readonly Session[];
}

/** One turn of a session: the request and its answer. */
export interface Turn {
  readonly request_id: string;
  readonly timestamp: string;
  readonly method: string | null;
  readonly params: JsonObject;
  readonly status: 'succeeded' | 'failed' | 'in_progress';
  readonly answer: Json;
}

/** Turns, newest first. */
export interface HistoryPage extends Page {
  readonly session_id: string;
  readonly messages: readonly Turn[];
}

export interface SessionOptions {
  /** The agent of the session. Default: the default agent. */
  readonly agent?: string;
  readonly signal?: AbortSignal;
}

export type Request = (method: string, params: JsonObject, options?: SessionOptions) => Promise<Json>;

/** The caller's own conversations. */
export class Sessions {
  readonly #request: Request;

  constructor(request: Request) {
    this.#request = request;
  }

  /** A page of the sessions, the last used first. */
  async list({
    page = 1,
    signal,
  }: {
    readonly page?: number;
    readonly signal?: AbortSignal;
  } = {}): Promise<SessionPage> {
    return (await this.#request('session.list', { page_idx: page }, signal && { signal })) as unknown as SessionPage;
  }

  async create(options: SessionOptions & { readonly session?: string; readonly title?: string } = {}) {
    const { session, title, ...rest } = options;
    const params = { ...(session !== undefined && { session_id: session }), ...(title !== undefined && { title }) };
    return (await this.#request('session.create', params, rest)) as { session_id: string };
  }

  async delete(session: string, options: SessionOptions = {}) {
    return (await this.#request('session.delete', { session_id: session }, options)) as {
      session_id: string;
      deleted: true;
    };
  }

  async history(session: string, { page = 1, ...options }: SessionOptions & { readonly page?: number } = {}) {
    const params = { session_id: session, page_idx: page };
    return (await this.#request('history.get', params, options)) as unknown as HistoryPage;
  }
}
