/** An API made by administration, its definition as JSON text. */
export interface ApiRow {
  readonly apiId: string;
  readonly definition: string;
  readonly createdAt: number;
}

export interface ApiStore {
  put(row: ApiRow): Promise<void>;
  /** By age. */
  list(): Promise<ApiRow[]>;
  /** False when it does not exist. */
  remove(apiId: string): Promise<boolean>;
}
