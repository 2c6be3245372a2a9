/** An agent that registered itself. */
export interface RegistrationRow {
  readonly agentId: string;
  /** Who registered it, and is the only one that may change it. */
  readonly owner: string;
  /** Its card as JSON text. */
  readonly card: string;
  /** Where it listens, as a URI. */
  readonly endpoint: string;
  /** Epoch milliseconds. */
  readonly registeredAt: number;
  readonly lastHeartbeat: number;
}

export type Heartbeat = Pick<RegistrationRow, 'agentId' | 'lastHeartbeat'>;

export interface RegistrationStore {
  /**
   * Records it. False, and nothing is changed, when the id belongs to another owner, or differs only in the case of letters from an existing
   * one. The id that is an owner's own name always belongs to that owner.
   */
  put(row: RegistrationRow): Promise<boolean>;
  list(): Promise<RegistrationRow[]>;
  /** The agent is alive. False when it is not registered. */
  beat(agentId: string, at: number): Promise<boolean>;
  /** Those with a heartbeat after a time, in the order of their heartbeats. */
  beats(since: number): Promise<Heartbeat[]>;
  remove(agentId: string): Promise<boolean>;
}
