import type { Http } from './http.ts';

/** Documents that agents may search. */
export interface KnowledgeBaseInput {
  readonly description?: string;
  /** The ids of the agents that may search it; `"*"` means all, an empty list none. */
  readonly agents: readonly string[];
  readonly documents: readonly KnowledgeDocument[];
}

export interface KnowledgeDocument {
  readonly id: string;
  readonly title?: string;
  readonly text: string;
  /** Returned with a hit, not searched. */
  readonly metadata?: { readonly [member: string]: unknown };
}

/** A knowledge base without its documents. */
export interface KnowledgeBaseSummary {
  readonly id: string;
  readonly description: string | null;
  readonly agents: readonly string[];
  /** The number of documents. */
  readonly documents: number;
}

export class KnowledgeAdmin {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  async list(): Promise<readonly KnowledgeBaseSummary[]> {
    const gives = { knowledge_bases: 'array' } as const;
    return (await this.#http.json<{ knowledge_bases: KnowledgeBaseSummary[] }>({ path: BASES, gives })).knowledge_bases;
  }

  /** Creates or replaces a knowledge base, with all its documents. */
  put(id: string, base: KnowledgeBaseInput): Promise<KnowledgeBaseSummary> {
    const gives = { id: 'string', documents: 'number' } as const;
    return this.#http.json({ method: 'PUT', path: pathOf(id), body: JSON.stringify(base), gives });
  }

  get(id: string): Promise<KnowledgeBaseInput & { readonly id: string }> {
    return this.#http.json({ path: pathOf(id), gives: { id: 'string', documents: 'array' } });
  }

  remove(id: string): Promise<{ id: string; removed: true }> {
    return this.#http.json({ method: 'DELETE', path: pathOf(id), gives: { removed: 'boolean' } });
  }

  removeDocument(id: string, documentId: string): Promise<{ id: string; removed: true }> {
    const path = `${pathOf(id)}/documents/${encodeURIComponent(documentId)}`;
    return this.#http.json({ method: 'DELETE', path, gives: { removed: 'boolean' } });
  }
}

function pathOf(id: string): string {
  return `${BASES}/${encodeURIComponent(id)}`;
}

const BASES = 'admin/v1/knowledge';
