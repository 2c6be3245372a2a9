import type { Http } from './http.ts';

/** A server that shares its database with others. */
export interface ServerNode {
  /** The number of the node, which changes with each start. */
  readonly node: number;
  readonly name: string;
  readonly version: string;
  readonly state: 'live' | 'leaving' | 'left' | 'dead';
  /** Whether this is the server that sent the answer. */
  readonly is_self: boolean;
  readonly started_at: string;
  /** The time of its last heartbeat. */
  readonly beat_at: string;
  readonly silent_ms: number;
  /** How far the node's clock is ahead of the database's; null before it is known. */
  readonly clock_skew_ms: number | null;
  readonly config_digest: string | null;
  readonly peer_url: string | null;
  /** The work that the node is responsible for. */
  readonly holds: {
    readonly requests: number;
    readonly executions: number;
    readonly letters: number;
    readonly deliveries: number;
  };
}

export interface NodeReport {
  /** Oldest first; empty where one server owns its store. */
  readonly nodes: readonly ServerNode[];
  readonly database: {
    readonly version: string;
    readonly schema_version: number;
    readonly synchronous_commit: string;
    readonly synchronous_standby_names: string;
    readonly standbys: number;
  } | null;
  readonly warnings: readonly { readonly code: string; readonly message: string; readonly suggestion: string }[];
}

export class NodeAdmin {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  list({ signal }: { readonly signal?: AbortSignal } = {}): Promise<NodeReport> {
    return this.#http.json({ path: 'admin/v1/nodes', signal, gives: { nodes: 'array', warnings: 'array' } });
  }
}
