import type { JsonObject } from '@dragoman/protocols';
import type { Http } from './http.ts';
import { insist } from './insist.ts';
import type { RetryOptions } from './retry.ts';

/** The query, and how many hits to return. */
export interface KnowledgeQuery {
  /** Only things of this kind. */
  readonly type?: KnowledgeHit['type'];
  /** Only the documents of this knowledge base. */
  readonly kb_id?: string;
  /** Hits at most. Default: 5. */
  readonly top_k?: number;
  /** Trims the answer to about this many tokens. */
  readonly token_budget?: number;
  /** Adds a JSON Schema that has only the operations found. */
  readonly partial_schema?: boolean;
  readonly signal?: AbortSignal;
}

/** One thing that was found, with what is needed to use it. */
export interface KnowledgeHit {
  readonly type: 'operation' | 'api' | 'endpoint' | 'tool' | 'workflow' | 'document';
  readonly id: string;
  readonly name: string;
  readonly [member: string]: unknown;
}

export interface KnowledgeAnswer {
  readonly query: string;
  /** Best first. */
  readonly results: readonly KnowledgeHit[];
  readonly count: number;
  readonly ranking: 'words' | 'words+meaning';
  /** Entries that were compared by words only. */
  readonly pending?: number;
  readonly tokens?: number;
  readonly left_out?: number;
  readonly partial_schema?: JsonObject;
}

/** A knowledge base that may be searched with this key. */
export interface SearchableBase {
  readonly id: string;
  readonly description: string | null;
  /** How many it has. */
  readonly documents: number;
}

/** Finds what this key may use: operations, APIs, endpoints, tools, stored workflows and documents. */
export class Knowledge {
  readonly #http: Http;
  readonly #retry: Required<RetryOptions>;

  constructor(http: Http, retry: Required<RetryOptions>) {
    this.#http = http;
    this.#retry = retry;
  }

  /** The search query. */
  search(query: string, { signal, ...options }: KnowledgeQuery = {}): Promise<KnowledgeAnswer> {
    const body = JSON.stringify({ query, ...options });
    const gives = { results: 'array' } as const;
    return insist(this.#http, this.#retry, { method: 'POST', path: 'api/v1/knowledge/search', body, signal, gives });
  }

  async bases({ signal }: { readonly signal?: AbortSignal } = {}): Promise<readonly SearchableBase[]> {
    const request = { path: 'api/v1/knowledge/bases', signal, gives: { knowledge_bases: 'array' } } as const;
    return (await insist<{ knowledge_bases: SearchableBase[] }>(this.#http, this.#retry, request)).knowledge_bases;
  }
}
