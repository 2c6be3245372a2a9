import type { Issue, Json, JsonObject } from '@dragoman/protocols';
import type { ToolDefinition } from '@dragoman/protocols/a2e-wire';
import type { Ask } from '../call/ask.ts';
import type { Principal } from '../call/principal.ts';
import type { Ending } from '../ending/ending.ts';
import type { Log } from '../ports/ports.ts';

/** Something that can be called by name, wherever it runs. */
export interface Tool {
  readonly definition: ToolDefinition;
  /** The kind of target that answers the tool; absent for code. */
  readonly answeredBy?: 'http' | 'agent' | 'workflow';
  /** Whether a caller may use the tool. Default: by `permissions.tools`. */
  readonly mayUse?: (principal: Principal) => boolean;
  /** How calls on the wire are recorded. Default: `audit`, a line without frames. */
  readonly record?: 'audit' | 'journal' | undefined;
  /** The request to the hub that stands for a call. Absent: the target `tools` answers it. */
  readonly request?: (args: JsonObject) => HubRequest;
  /** Further data from its MCP server: title, annotations, icons and `_meta`. */
  readonly mcp?: JsonObject | undefined;
  /** All problems with the arguments, checked before each call. */
  issuesOf(args: JsonObject): readonly Issue[];
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

/** A source of tools. A new kind of tool is another source. */
export interface ToolSource {
  /** Resolves when its tools have been listed once; absent if they are known from the start. */
  readonly ready?: Promise<void>;
  /** Increases whenever the tools change; absent if they never do. */
  readonly version?: number;
  tools(): Iterable<Tool>;
  find(name: string): Tool | undefined;
  /** Why a tool that this source could have is not available, and what to do. */
  whyNot?(name: string): AbsentTool | undefined;
}

export interface AbsentTool {
  readonly toolkit: string;
  readonly message: string;
  readonly fix?: string;
  /** Set if the source is unavailable: the seconds until a new try is useful. */
  readonly retryAfter?: number;
}

/** The context of one running tool. */
export interface ToolCall {
  readonly principal: Principal;
  /** Aborts when the call is cancelled, runs out of time, or its caller is gone. */
  readonly signal: AbortSignal;
  /** The same as `signal`, which is only created when it is read. */
  readonly ending: Ending;
  /** How many workflows and agents stand between the first caller and this call. */
  readonly hops: number;
  /** Whether the caller receives events while the tool runs. Other callers get them with the result. */
  readonly hasListener: boolean;
  /** Asks a person. Absent if the call is not part of a request, as on the wire. */
  readonly ask?: Ask | undefined;
  /** A log for the caller, sent as events. */
  readonly log: Log;
  /** Reports progress, from 0 to 100. */
  progress(percent: number, message?: string): void;
  /** Reports a status, with more data if needed. */
  status(message: string, more?: JsonObject): void;
  /** Sends a piece of an artifact; text is sent as UTF-8. */
  artifact(piece: ArtifactPiece): void;
  /**
   * Makes the return value of a tool that ran without success: `return call.failed('no such city', { code: 'NO_CITY'
   * })`.
   */
  failed(message: string, more?: { readonly code?: string; readonly data?: Json }): FailedOutcome;
}

export interface ArtifactPiece {
  readonly name: string;
  readonly mime?: string;
  readonly chunk: string | Uint8Array;
  readonly final?: boolean;
}

/** A failed outcome, as a class so that it differs from any value that a tool may return. */
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
