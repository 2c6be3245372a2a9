import type { Explanation } from '@dragoman/protocols';
import type { Http } from './http.ts';
import { queryOf, REQUEST_PAGE, type RequestListQuery, type RequestPage } from './request-page.ts';

/** Explains requests, and deletes their records. */
export class RequestAdmin {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** A page of all requests, the latest change first. */
  list({ signal, ...query }: RequestListQuery & { readonly owner?: string | undefined } = {}): Promise<RequestPage> {
    return this.#http.json({ path: `admin/v1/requests?${queryOf(query)}`, signal, gives: REQUEST_PAGE });
  }

  /** Explains a request. If several agents have used the id, it is that of `agentId`, or the newest one. */
  explain(requestId: string, { agentId }: { agentId?: string | undefined } = {}): Promise<Explanation> {
    return this.#http.json({ path: pathOf(requestId, agentId), gives: EXPLANATION });
  }

  /** Cancels a running request or execution of any agent. `cancelled`: whether it was still running. */
  cancel(
    requestId: string,
    { agentId }: { agentId?: string | undefined } = {},
  ): Promise<{ request_id: string; agent_id: string; cancelled: boolean }> {
    const path = pathOf(requestId, agentId, '/cancel');
    return this.#http.json({ method: 'POST', path, gives: { agent_id: 'string', cancelled: 'boolean' } });
  }

  /**
   * Deletes a request with its answer, or an execution with its events and result, for good. If several agents have
   * used the id, `agentId` is required. Throws `conflict` for one that is running.
   */
  forget(
    requestId: string,
    { agentId }: { agentId?: string | undefined } = {},
  ): Promise<{ request_id: string; agent_id: string; removed: true }> {
    return this.#http.json({ method: 'DELETE', path: pathOf(requestId, agentId), gives: { removed: 'boolean' } });
  }
}

function pathOf(requestId: string, agentId: string | undefined, action = ''): string {
  const query = agentId === undefined ? '' : `?agent_id=${encodeURIComponent(agentId)}`;
  return `admin/v1/requests/${encodeURIComponent(requestId)}${action}${query}`;
}

const EXPLANATION = {
  received: 'object',
  allowed: 'array',
  way_in: 'object',
  answers: 'array',
  callbacks: 'array',
  also_by: 'array',
} as const;
