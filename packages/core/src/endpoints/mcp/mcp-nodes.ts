import type { Json } from '@dragoman/protocols';

/** The other nodes, at which a client may continue. Absent where one process owns the store. */
export interface McpNodes {
  /** The number of this node. */
  readonly node: number;
  /** The key with which all nodes sign their `Seals`. */
  readonly key: Buffer;
  /** Cancels a running call of a session, by its JSON-RPC id, at the node that answers it. */
  cancel(sessionId: string, callId: Json): void;
}
