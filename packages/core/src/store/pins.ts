/** What a foreign tool was when it was last found good. */
export interface PinRow {
  /** `<server>__<tool>`. */
  readonly name: string;
  readonly hash: string;
  readonly pinnedAt: number;
  /** The hash of the last change that an operator refused. */
  readonly refused: string | null;
  /** Whether its definition is recorded: older versions recorded the hash alone. */
  readonly hasDefinition: boolean;
}

export interface NewPin {
  readonly name: string;
  readonly hash: string;
  readonly pinnedAt: number;
  /** What the hash is of, as JSON text; null where it is too long to be kept. */
  readonly definition: string | null;
}

export interface PinStore {
  /** Pins a name that has no pin yet. Gives the pin that it has then, which may be another process's. */
  add(pin: NewPin): Promise<PinRow>;
  /** Replaces an earlier one of the name, and what was refused of it. */
  put(pin: NewPin): Promise<void>;
  /** Records that a change was refused. */
  refuse(name: string, hash: string): Promise<void>;
  list(): Promise<PinRow[]>;
  /** The definition that a name is pinned to; null where none is recorded. */
  definition(name: string): Promise<string | null>;
}
