import type { Issue, Json, JsonObject } from '@dragoman/protocols';
import type { ToolDefinition } from '@dragoman/protocols/a2e-wire';
import type { Ask } from '../call/ask.ts';
import type { Principal } from '../call/principal.ts';
import type { Ending } from '../ending/ending.ts';
import type { Log } from '../ports/ports.ts';

/** Something that can be called by name, wherever it runs. */
export interface Tool {
  readonly definition: ToolDefinition;
  /** Its target, if it is not code. */
  readonly answeredBy?: 'http' | 'agent' | 'workflow';
  /** Whether a caller may use it, where other permissions than `permissions.tools` decide. */
  readonly mayUse?: (principal: Principal) => boolean;
  /** How calls on the wire are recorded. Default: `audit`, a line without frames. */
  readonly record?: 'audit' | 'journal' | undefined;
  /** The request to the hub, if another target than `tools` answers the call. */
  readonly request?: (args: JsonObject) => HubRequest;
  /** Further data from its MCP server: title, annotations, icons and `_meta`. */
  readonly mcp?: JsonObject | undefined;
  /** Every problem with these arguments, checked before each call. */
  issuesOf(args: JsonObject): readonly Issue[] | Promise<readonly Issue[]>;
  /** Thrown errors become `tool_error`; a `Refused` keeps its code. */
  run(args: JsonObject, call: ToolCall): ToolOutcome | Promise<ToolOutcome>;
}

export interface HubRequest {
  readonly agent: string;
  readonly method?: string;
  readonly params: JsonObject;
}

/** The result of a tool. A run without success is a result, not an error. */
export interface ToolOutcome {
  readonly success: boolean;
  readonly data: Json;
  readonly summary?: Json;
  /** The error, if it did not succeed. */
  readonly error?: string;
  readonly errorCode?: string;
}

/** The tools one place has to offer. A new kind of tool is another source. */
export interface ToolSource {
  /** Resolves when its tools have been listed once; absent if they are known from the start. */
  readonly ready?: Promise<void>;
  /** Grows whenever it has other tools than before; absent where it never has. */
  readonly version?: number;
  tools(): Iterable<Tool>;
  find(name: string): Tool | undefined;
  /** Why one that could be here is not to be had, in words, and what to do about it. */
  whyNot?(name: string): AbsentTool | undefined;
}

export interface AbsentTool {
  readonly toolkit: string;
  readonly message: string;
  readonly fix?: string;
  /** Its source is unavailable; it may be available after this many seconds. */
  readonly retryAfter?: number;
}

/** The context of one running tool. */
export interface ToolCall {
  readonly principal: Principal;
  /** Aborts when the call is cancelled, runs out of time, or its caller is gone. */
  readonly signal: AbortSignal;
  /** The same, for those who can do without a signal. */
  readonly ending: Ending;
  /** How many workflows and agents stand between the first caller and this call. */
  readonly hops: number;
  /** Whether its caller listens while it runs; what it tells others, they find in the result. */
  readonly hasListener: boolean;
  /** Asks a person. Absent if the call is not part of a request, as on the wire. */
  readonly ask?: Ask | undefined;
  /** Lines for the caller, sent as events. */
  readonly log: Log;
  /** How far it is, from 0 to 100. */
  progress(percent: number, message?: string): void;
  /** Where it stands, in words, and whatever else there is to report. */
  status(message: string, more?: JsonObject): void;
  /** A piece of something it makes; text is sent as UTF-8. */
  artifact(piece: ArtifactPiece): void;
  /** Returned by a tool that ran and did not succeed: `return call.failed('no such city', { code: 'NO_CITY' })`. */
  failed(message: string, more?: { readonly code?: string; readonly data?: Json }): FailedOutcome;
}

export interface ArtifactPiece {
  readonly name: string;
  readonly mime?: string;
  readonly chunk: string | Uint8Array;
  readonly final?: boolean;
}

/** Tells "did not succeed" from any value a tool may return. */
export class FailedOutcome implements ToolOutcome {
  readonly success = false;
  readonly data: Json;
  readonly error: string;
  readonly errorCode?: string;

  constructor(message: string, { code, data = null }: { readonly code?: string; readonly data?: Json } = {}) {
    this.error = message;
    this.data = data;
    if (code !== undefined) this.errorCode = code;
  }
}
