import type { JsonObject } from '@dragoman/protocols';
import type { EventKind, ToolDefinition, ToolResult } from '@dragoman/protocols/a2e-wire';

/** The tools that one caller may use. */
export interface CallerTools {
  list(filter?: ToolFilter): Promise<readonly ToolDefinition[]>;
  call(name: string, args?: JsonObject, options?: CallerToolOptions): Promise<ToolResult>;
}

export interface CallerToolOptions {
  /** Default, also for 0: the longest allowed timeout. */
  readonly timeoutMs?: number;
  readonly onEvent?: (event: ToolEvent) => void;
}

export interface ToolFilter {
  /** A part of the name, the description or a tag. Also finds deferred tools. */
  readonly query?: string;
  /** A tool must have all of these tags. */
  readonly tags?: readonly string[];
  readonly deferred?: boolean;
  /** Toolkits to leave out. */
  readonly without?: ReadonlySet<string>;
}

/** The events of a running tool. */
export interface ToolEvent {
  readonly kind: EventKind;
  readonly data: JsonObject;
}
