import type { Json, JsonObject } from '@dragoman/protocols';
import type { McpError, McpHeaders } from '@dragoman/protocols/mcp';
import type { Received } from '../../call/call.ts';
import type { Principal } from '../../call/principal.ts';
import type { McpSession } from './sessions.ts';

/** How a message came. */
export interface McpContext {
  readonly principal: Principal;
  /** Of the endpoint of one agent. */
  readonly agentId?: string | undefined;
  /** Absent where there are none, as on stdio. */
  readonly headers?: McpHeaders | undefined;
  readonly sessionId?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly received: Received;
  /** Aborts when the peer is gone. */
  readonly signal: AbortSignal;
}

/** One request while it is being answered. */
export interface McpCall extends McpContext {
  readonly id: Json;
  /** `undefined` in the revision without sessions. */
  readonly session: McpSession | undefined;
  readonly version: string;
  /** Name and version of the client, as it says. */
  readonly client: string;
  readonly capabilities: JsonObject;
  readonly meta: JsonObject;
  /** The tool that the client called, also where that called another. */
  readonly tool?: string;
}

/** What goes back for one message. */
export type McpReply =
  /** Nothing but that it was taken. */
  | { readonly accepted: true }
  /** The response. */
  | { readonly message: JsonObject; readonly status: number; readonly sessionId?: string }
  /** Notifications, and the response as the last. */
  | { readonly messages: AsyncGenerator<JsonObject, void, undefined> };

/** What a method gives: its result, or what is told before it and then the result. */
export type McpResultOf = JsonObject | Promise<JsonObject> | AsyncGenerator<JsonObject, JsonObject, undefined>;

/** Thrown where a request is refused with an error that only MCP has. */
export class McpRefused extends Error {
  readonly error: McpError;

  constructor(error: McpError) {
    super(error.message);
    this.name = 'McpRefused';
    this.error = error;
  }
}
