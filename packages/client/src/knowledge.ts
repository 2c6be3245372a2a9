import type { JsonObject } from '@dragoman/protocols';
import type { Http } from './http.ts';
import { insist } from './insist.ts';
import type { RetryOptions } from './retry.ts';

/** The options of a search. */
export interface KnowledgeQuery {
  /** Only hits of this type. */
  readonly type?: KnowledgeHit['type'];
  /** Only the documents of this knowledge base. */
  readonly kb_id?: string;
  /** Maximum number of hits. Default: 5. */
  readonly top_k?: number;
  /** Trims the answer to about this many tokens. */
  readonly token_budget?: number;
  /** Adds a JSON Schema with only the operations that were found. */
  readonly partial_schema?: boolean;
  readonly signal?: AbortSignal;
}

/** One hit, with what is needed to use it. */
export interface KnowledgeHit {
  readonly type: 'operation' | 'api' | 'endpoint' | 'tool' | 'workflow' | 'document';
  readonly id: string;
  readonly name: string;
  readonly [member: string]: unknown;
}

export interface KnowledgeAnswer {
  readonly query: string;
  /** The best hit first. */
  readonly results: readonly KnowledgeHit[];
  readonly count: number;
  readonly ranking: 'words' | 'words+meaning';
  /** The number of entries that were compared only by words. */
  readonly pending?: number;
  readonly tokens?: number;
  readonly left_out?: number;
  readonly partial_schema?: JsonObject;
}

/** A knowledge base that may be searched with this key. */
export interface SearchableBase {
  readonly id: string;
  readonly description: string | null;
  /** The number of documents. */
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

  /** Searches by meaning. */
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
