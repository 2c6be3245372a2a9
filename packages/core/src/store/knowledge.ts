export interface KnowledgeBaseRow {
  readonly baseId: string;
  /** The knowledge base with all its documents, as JSON text. */
  readonly definition: string;
  readonly createdAt: number;
}

export interface KnowledgeStore {
  put(row: KnowledgeBaseRow): Promise<void>;
  /** Oldest first. */
  list(): Promise<KnowledgeBaseRow[]>;
  /** False when it does not exist. */
  remove(baseId: string): Promise<boolean>;
}
