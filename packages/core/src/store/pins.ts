/** What a foreign tool was when it was last found good. */
export interface PinRow {
  /** `<server>__<tool>`. */
  readonly name: string;
  readonly hash: string;
  readonly pinnedAt: number;
}

export interface PinStore {
  put(row: PinRow): Promise<void>;
  list(): Promise<PinRow[]>;
}
