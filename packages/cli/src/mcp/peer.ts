import type { JsonObject } from '@dragoman/protocols';

/** The MCP server behind stdio: in another process, or in this one. */
export interface McpPeer {
  /** The messages that answer a message, the response last; none for a notification. Aborting closes the connection. */
  send(message: JsonObject, signal: AbortSignal): AsyncIterable<JsonObject>;
  /** The messages that the server sends by itself in a session. */
  notices(signal: AbortSignal): AsyncIterable<JsonObject>;
  /** Ends the session, if there is one. */
  close(): Promise<void>;
}
