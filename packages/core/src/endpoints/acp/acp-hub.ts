import type { E2AEnvelope, E2AResponse, Json, JsonObject } from '@dragoman/protocols';

/** The hub of an ACP connection: in this process, or a remote one. Its methods throw errors that carry a `Failure`. */
export interface AcpHub {
  /** Calls a method of the server, or of a target, and resolves with its result. */
  request(method: string, params: JsonObject, agent?: string): Promise<Json>;
  /** Sends an envelope and returns the frames of its answer. */
  send(envelope: E2AEnvelope, options: AcpSendOptions): AsyncIterable<E2AResponse>;
  /** Returns all frames of an earlier request. While the request is running, new frames follow. */
  read(requestId: string): AsyncIterable<E2AResponse>;
  cancel(requestId: string): Promise<unknown>;
}

export interface AcpSendOptions {
  /** The client's message, to be recorded where the hub can. */
  readonly received: JsonObject;
  /** Aborts when the client cancels, even before the request is recorded. */
  readonly cancelled: AbortSignal;
}
