import type { Json, JsonObject, JsonSchema } from '@dragoman/protocols';
import type { EventGiven, WireMessage } from '@dragoman/protocols/a2e-wire';
import type { Principal } from '../../call/principal.ts';
import type { Ending } from '../../ending/ending.ts';
import type { Log } from '../../ports/ports.ts';

/**
 * A part of the wire host: the messages of one capability. It is given what it needs when it is made, answers by returning,
 * and tells how things go through the call; it never reaches into the host.
 */
export interface WirePlugin {
  readonly name: string;
  /** The capability that grants it. */
  readonly capability: string;
  /** The types of message it takes; `*` for all types that the others leave. */
  readonly messages: readonly string[];
  /**
   * JSON Schemas of the fields of its own types, by type. A request that does not fit is refused before `handle`; an answer that does
   * not fit is an error of the plugin. `GET /a2e/types` shows them.
   */
  readonly schemas?: Readonly<Record<string, JsonSchema>>;
  /** Of several that take a type, the highest comes first. Default: 0. */
  readonly priority?: number;
  /** It is the last one for its types. */
  readonly exclusive?: boolean;
  /** Called once, before the first message. */
  setup?(): Promise<void>;
  /**
   * The fields of the answer; `undefined` leaves the message to the next plugin that takes it. What cannot be answered it
   * throws: `refuse()` for a code of ours, `WireRefused` for a code of its capability. Any other error of a plugin that an operator
   * wrote becomes `tool_error`, with its message and its `code`.
   */
  handle(message: WireMessage, call: WireCall): Answered | Promise<Answered>;
  /** The state to restore after a restart. */
  save?(): Json | undefined | Promise<Json | undefined>;
  /** Before `setup`, with what `save` gave last. */
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
  /** The same, for those who can do without a signal. */
  readonly ending: Ending;
  readonly log: Log;
  /** Tells the agent how it is going: numbered, and only as long as the request runs. */
  event(event: EventGiven): void;
}

/** A connection after its handshake. */
export interface WireSession {
  readonly id: string;
  /** The caller, with its current permissions. */
  readonly principal: Principal;
  /** Aborts when the connection is gone. */
  readonly closed: AbortSignal;
  /** Sends what answers no request. */
  push(type: string, fields: JsonObject): void;
}
