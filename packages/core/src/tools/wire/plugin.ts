import type { Json, JsonObject, JsonSchema } from '@dragoman/protocols';
import type { EventGiven, WireMessage } from '@dragoman/protocols/a2e-wire';
import type { Principal } from '../../call/principal.ts';
import type { Ending } from '../../ending/ending.ts';
import type { Log } from '../../ports/ports.ts';

/**
 * A part of the wire host: the messages of one capability. It receives its dependencies when it is created, answers by
 * returning fields, and reports events through the call; it never calls the host.
 */
export interface WirePlugin {
  readonly name: string;
  /** The capability that a handshake must grant for these messages. */
  readonly capability: string;
  /** The types of message it takes; `*` for all types that the others leave. */
  readonly messages: readonly string[];
  /**
   * JSON Schemas of the fields of its own types, by type. A request that does not fit is refused before `handle`; an
   * answer that does not fit is an error of the plugin. `GET /a2e/types` shows them.
   */
  readonly schemas?: Readonly<Record<string, JsonSchema>>;
  /** Among several plugins for a type, the one with the highest number is called first. Default: 0. */
  readonly priority?: number;
  /** No plugin after this one is called for its types. */
  readonly exclusive?: boolean;
  /** Called once, before the first message. */
  setup?(): Promise<void>;
  /**
   * Returns the fields of the answer; `undefined` leaves the message to the next plugin that takes it. To fail, it
   * throws: `refuse()` for one of our codes, `WireRefused` for a code of its capability. Any other error of an
   * operator's plugin becomes `tool_error`, with its message and `code`.
   */
  handle(message: WireMessage, call: WireCall): Answered | Promise<Answered>;
  /** The state to restore after a restart. */
  save?(): Json | undefined | Promise<Json | undefined>;
  /** Called before `setup`, with the last result of `save`. */
  restore?(state: Json): void | Promise<void>;
  teardown?(): Promise<void>;
}

export type Answered = JsonObject | undefined;

/** One request while it is being answered. */
export interface WireCall {
  readonly session: WireSession;
  readonly requestId: string;
  /** Aborts when the request is cancelled or its connection is gone. */
  readonly signal: AbortSignal;
  /** The same as `signal`, which is only created when it is read. */
  readonly ending: Ending;
  readonly log: Log;
  /** Sends a numbered event to the agent, as long as the request runs. */
  event(event: EventGiven): void;
}

/** A connection after its handshake. */
export interface WireSession {
  readonly id: string;
  /** The caller, with its current permissions. */
  readonly principal: Principal;
  /** Aborts when the connection is gone. */
  readonly closed: AbortSignal;
  /** Sends a message that answers no request. */
  push(type: string, fields: JsonObject): void;
}
