import type { JsonObject } from '@dragoman/protocols';

export type RequestId = string | number;

/** Carries JSON-RPC messages to one MCP server and back. */
export interface McpTransport {
  /** Whether the server has a session for us, which it may forget. */
  readonly hasSession: boolean;
  /** The last output of a program on stderr; empty without any. */
  readonly lastWords: string;
  start(receiver: McpReceiver): Promise<void>;
  /** Throws or rejects where the message cannot be sent. */
  send(message: JsonObject): void | Promise<void>;
  /** The answer to this request is not needed any more. */
  abandon(id: RequestId): void;
  /** The server has answered `initialize`, with this revision. */
  useRevision(revision: string): void;
  /** Ends the session at the server, if there is one. */
  endSession(): Promise<void>;
  close(): Promise<void>;
}

/** Receives the messages of a transport. */
export interface McpReceiver {
  /** Whether the request with this id waits for an answer. */
  awaits(id: unknown): boolean;
  /** `of` is the request whose stream carried the message, if known. */
  take(message: JsonObject, of?: RequestId): void;
  /** The request cannot be answered any more. */
  fail(id: RequestId, error: Error): void;
  closed(): void;
}
