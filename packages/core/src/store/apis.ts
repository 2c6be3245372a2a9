/** An API that was added by administration. */
export interface ApiRow {
  readonly apiId: string;
  /** JSON text. */
  readonly definition: string;
  readonly createdAt: number;
}

export interface ApiStore {
  put(row: ApiRow): Promise<void>;
  /** Oldest first. */
  list(): Promise<ApiRow[]>;
  /** False when it does not exist. */
  remove(apiId: string): Promise<boolean>;
}
