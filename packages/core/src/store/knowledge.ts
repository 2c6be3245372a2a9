/** A knowledge base with all its documents, as JSON text. */
export interface KnowledgeBaseRow {
  readonly baseId: string;
  readonly definition: string;
  readonly createdAt: number;
}

export interface KnowledgeStore {
  put(row: KnowledgeBaseRow): Promise<void>;
  /** By age. */
  list(): Promise<KnowledgeBaseRow[]>;
  /** False when it does not exist. */
  remove(baseId: string): Promise<boolean>;
}
