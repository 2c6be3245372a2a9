import type { E2AEnvelope, E2AResponse, Json, JsonObject } from '@dragoman/protocols';

/** How an ACP connection reaches the hub: in the same process, or over a client. What goes wrong is thrown with its `failure`. */
export interface AcpHub {
  /** Calls a method of the server, or of a target, and resolves with its result. */
  request(method: string, params: JsonObject, agent?: string): Promise<Json>;
  /** Sends an envelope and gives the frames of its answer. */
  send(envelope: E2AEnvelope): AsyncIterable<E2AResponse>;
  /** The frames of a request sent before, from the first; follows it while it is being answered. */
  read(requestId: string): AsyncIterable<E2AResponse>;
  /** Ends a running request. */
  cancel(requestId: string): Promise<unknown>;
}
