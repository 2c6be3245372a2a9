import type { E2AEnvelope, E2AResponse, Json, JsonObject } from '@dragoman/protocols';

/** Connects an ACP connection to the hub: in the same process, or over a client. Errors are thrown with their `failure`. */
export interface AcpHub {
  /** Calls a method of the server, or of a target, and resolves with its result. */
  request(method: string, params: JsonObject, agent?: string): Promise<Json>;
  /** Sends an envelope and returns the frames of its answer. */
  send(envelope: E2AEnvelope, options: AcpSendOptions): AsyncIterable<E2AResponse>;
  /** All frames of an earlier request; follows it while it is running. */
  read(requestId: string): AsyncIterable<E2AResponse>;
  /** Ends a running request. */
  cancel(requestId: string): Promise<unknown>;
}

export interface AcpSendOptions {
  /** The client's message, to be recorded where the hub can. */
  readonly received: JsonObject;
  /** Aborts when the client cancels, even before the request is recorded. */
  readonly cancelled: AbortSignal;
}
