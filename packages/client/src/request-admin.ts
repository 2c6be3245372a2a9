import type { Explanation } from '@dragoman/protocols';
import type { Http } from './http.ts';

/** What happened to requests. */
export class RequestAdmin {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Of several agents' requests of this id the newest, or that of `agentId`. */
  explain(requestId: string, { agentId }: { agentId?: string | undefined } = {}): Promise<Explanation> {
    const query = agentId === undefined ? '' : `?agent_id=${encodeURIComponent(agentId)}`;
    return this.#http.json({ path: `admin/v1/requests/${encodeURIComponent(requestId)}${query}` });
  }
}
