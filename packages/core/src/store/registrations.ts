/** An agent that registered itself. */
export interface RegistrationRow {
  readonly agentId: string;
  /** Who registered it, and alone may change it. */
  readonly owner: string;
  /** Its card as JSON text. */
  readonly card: string;
  /** Where it listens, as a URI. */
  readonly endpoint: string;
  /** Epoch milliseconds. */
  readonly registeredAt: number;
  readonly lastHeartbeat: number;
}

export interface RegistrationStore {
  put(row: RegistrationRow): Promise<void>;
  list(): Promise<RegistrationRow[]>;
  /** The agent is alive. False when it is not registered. */
  beat(agentId: string, at: number): Promise<boolean>;
  remove(agentId: string): Promise<boolean>;
}
