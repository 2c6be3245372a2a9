/** The caller, and what that caller may do. */
export interface Principal {
  /** The agent id, `admin`, or the owner that an anonymous sender's messages are recorded with. */
  readonly id: string;
  /** The kind of caller: an agent with a key or a signature, the operator, or an anonymous sender of the mailbox. */
  readonly kind: 'agent' | 'admin' | 'anonymous';
  readonly permissions: Permissions;
  /** The caller's key, so that revoking the key ends what it opened; `undefined` for a signature. */
  readonly keyId?: string;
  /** The caller's own limits, if they differ from the default. */
  readonly limits?: Partial<RateLimits>;
}

/** The permissions of a caller, by name. `*` means all; an empty list means nothing. */
export interface Permissions {
  readonly operations: readonly string[];
  readonly apis: readonly string[];
  readonly credentials: readonly string[];
  readonly agents: readonly string[];
  readonly tools: readonly string[];
  /** Stored workflows. */
  readonly workflows: readonly string[];
}

export function allows(list: readonly string[], name: string): boolean {
  return list.includes('*') || list.includes(name);
}

/** The entry that allows a name: `*` if the list has it, otherwise the name. */
export function entryFor(list: readonly string[], name: string): string {
  return list.includes('*') ? '*' : name;
}

/** How much one principal may do, in sliding windows. */
export interface RateLimits {
  readonly requests_per_minute: number;
  readonly requests_per_hour: number;
  readonly requests_per_day: number;
  readonly api_calls_per_minute: number;
  readonly api_calls_per_hour: number;
}

export const NO_PERMISSIONS: Permissions = {
  operations: [],
  apis: [],
  credentials: [],
  agents: [],
  tools: [],
  workflows: [],
};
export const ALL_PERMISSIONS: Permissions = {
  operations: ['*'],
  apis: ['*'],
  credentials: ['*'],
  agents: ['*'],
  tools: ['*'],
  workflows: ['*'],
};
