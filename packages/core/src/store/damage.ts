/**
 * A damaged row. Reading a request or an execution fails with `store_damaged`; all other rows are left out of their
 * lists.
 */
export interface Damage {
  readonly kind: 'request' | 'execution' | 'key' | 'agent' | 'api' | 'registration' | 'workflow';
  /** Empty for a row that belongs to the server. */
  readonly owner: string;
  readonly name: string;
}
