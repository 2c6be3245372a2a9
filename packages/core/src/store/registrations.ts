/** An agent that registered itself. */
export interface RegistrationRow {
  readonly agentId: string;
  /** The principal that registered it. Only this principal may change it. */
  readonly owner: string;
  /** Its card as JSON text. */
  readonly card: string;
  /** The URI at which it listens. */
  readonly endpoint: string;
  /** Epoch milliseconds. */
  readonly registeredAt: number;
  readonly lastHeartbeat: number;
}

export type Heartbeat = Pick<RegistrationRow, 'agentId' | 'lastHeartbeat'>;

export interface RegistrationStore {
  /**
   * Adds or replaces a registration. Returns false and changes nothing when the id belongs to another owner, or differs
   * only in the case of letters from an existing one. An id that equals the name of an owner always belongs to that
   * owner.
   */
  put(row: RegistrationRow): Promise<boolean>;
  list(): Promise<RegistrationRow[]>;
  /** Records a heartbeat. False when the agent is not registered. */
  beat(agentId: string, at: number): Promise<boolean>;
  /** The agents whose last heartbeat is after a time, in the order of their heartbeats. */
  beats(since: number): Promise<Heartbeat[]>;
  remove(agentId: string): Promise<boolean>;
}
