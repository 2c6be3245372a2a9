import type { JsonObject } from '@dragoman/protocols';
import type { EventKind, ToolDefinition, ToolResult } from '@dragoman/protocols/a2e-wire';

/** The tools as one caller may use them. */
export interface CallerTools {
  list(filter?: ToolFilter): Promise<readonly ToolDefinition[]>;
  call(name: string, args?: JsonObject, options?: CallerToolOptions): Promise<ToolResult>;
}

export interface CallerToolOptions {
  /** 0 or absent: as long as any call may take. */
  readonly timeoutMs?: number;
  readonly onEvent?: (event: ToolEvent) => void;
}

export interface ToolFilter {
  /** A part of the name, the description or a tag. Deferred tools are found by it too. */
  readonly query?: string;
  /** Every one of them has to be there. */
  readonly tags?: readonly string[];
  readonly deferred?: boolean;
  /** Groups of tools to leave out. */
  readonly without?: ReadonlySet<string>;
}

/** The events of a running tool. */
export interface ToolEvent {
  readonly kind: EventKind;
  readonly data: JsonObject;
}
