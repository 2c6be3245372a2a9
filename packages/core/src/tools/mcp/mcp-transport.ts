import type { JsonObject } from '@dragoman/protocols';

export type RequestId = string | number;

/** Carries JSON-RPC messages to one MCP server and back. */
export interface McpTransport {
  /** Whether the server knows us by a session that it may forget. */
  readonly hasSession: boolean;
  /** The last line that a program wrote to stderr; empty without one. */
  readonly lastWords: string;
  start(receiver: McpReceiver): Promise<void>;
  /** Throws or rejects where the message cannot be sent. */
  send(message: JsonObject): void | Promise<void>;
  /** The answer to this request is not needed any more. */
  abandon(id: RequestId): void;
  /** The server has answered `initialize`, with this revision. */
  useRevision(revision: string): void;
  /** Tells the server that the session is over, where there is one. */
  endSession(): Promise<void>;
  close(): Promise<void>;
}

/** Who takes what a transport brings. */
export interface McpReceiver {
  /** Whether somebody waits for the answer to this request. */
  awaits(id: unknown): boolean;
  /** `of`: the request whose stream carried it, where that is known. */
  take(message: JsonObject, of?: RequestId): void;
  /** The request cannot be answered any more. */
  fail(id: RequestId, error: Error): void;
  closed(): void;
}
