import type { JsonObject } from '@dragoman/protocols';

/** The MCP server behind stdio: one elsewhere, or one in this process. */
export interface McpPeer {
  /** What comes back for a message, the response last; nothing for a notification. Aborting it is leaving. */
  send(message: JsonObject, signal: AbortSignal): AsyncIterable<JsonObject>;
  /** The messages that the server sends by itself in a session. */
  notices(signal: AbortSignal): AsyncIterable<JsonObject>;
  /** Ends the session, if there is one. */
  close(): Promise<void>;
}
