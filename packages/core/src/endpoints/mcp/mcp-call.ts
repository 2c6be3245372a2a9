import type { Json, JsonObject } from '@dragoman/protocols';
import type { McpError, McpHeaders } from '@dragoman/protocols/mcp';
import type { Received } from '../../call/call.ts';
import type { Principal } from '../../call/principal.ts';
import type { McpSession } from './sessions.ts';

/** How a message was received. */
export interface McpContext {
  readonly principal: Principal;
  /** Set at the endpoint of one agent. */
  readonly agentId?: string | undefined;
  /** Absent on transports without headers, such as stdio. */
  readonly headers?: McpHeaders | undefined;
  readonly sessionId?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly received: Received;
  /** Aborts when the peer is gone. */
  readonly signal: AbortSignal;
}

/** A running request. */
export interface McpCall extends McpContext {
  readonly id: Json;
  /** `undefined` in the revision without sessions. */
  readonly session: McpSession | undefined;
  /** Aborted by `notifications/cancelled`, which only a session has. */
  readonly cancelling?: AbortController;
  readonly version: string;
  /** Name and version of the client, as it declares them. */
  readonly client: string;
  readonly capabilities: JsonObject;
  readonly meta: JsonObject;
  /** The tool that the client called, even if that tool calls another. */
  readonly tool?: string;
}

/** The reply to one message. */
export type McpReply =
  /** The message was accepted and has no response. */
  | { readonly accepted: true }
  /** The response. */
  | { readonly message: JsonObject; readonly status: number; readonly sessionId?: string }
  /** Notifications, and the response as the last. */
  | { readonly messages: AsyncGenerator<JsonObject, void, undefined> };

/** The result of a method, or notifications followed by the result. */
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
