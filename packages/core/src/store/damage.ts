/** A damaged row. Reading it fails with `store_damaged`, or it is left out. */
export interface Damage {
  readonly kind: 'request' | 'execution' | 'key' | 'agent' | 'api' | 'registration' | 'workflow';
  /** Empty for what belongs to the server. */
  readonly owner: string;
  readonly name: string;
}
