/** The last accepted definition of a foreign tool. */
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
  /** The definition behind the hash, as JSON text; null where it is too long to be kept. */
  readonly definition: string | null;
}

export interface PinStore {
  /** Pins a name that has no pin yet. Returns its pin, which another process may have set. */
  add(pin: NewPin): Promise<PinRow>;
  /** Replaces the pin of the name, and its refused change. */
  put(pin: NewPin): Promise<void>;
  /** Records that a change was refused. */
  refuse(name: string, hash: string): Promise<void>;
  list(): Promise<PinRow[]>;
  /** The definition that a name is pinned to; null where none is recorded. */
  definition(name: string): Promise<string | null>;
}
