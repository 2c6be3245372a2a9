import type { JsonObject } from '@dragoman/protocols';
import type { ToolDefinition, ToolResult } from '@dragoman/protocols/a2e-wire';
import type { Ask } from '../ask.ts';
import { Ending } from '../ending.ts';
import type { Principal } from '../principal.ts';
import type { ToolEvent } from './tool.ts';
import type { ToolFilter, ToolRegistry } from './tool-registry.ts';

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

/** What an agent does for a caller it does with the caller's permissions, and no longer than the call lasts. */
export function callerTools(
  tools: ToolRegistry,
  call: {
    readonly principal: Principal;
    readonly signal: AbortSignal;
    readonly hops: number;
    readonly ask?: Ask | undefined;
  },
): CallerTools {
  let ending: Ending | undefined;
  // One for all its tools: each would else listen to the signal for as long as the call lasts.
  const end = () => {
    ending ??= Ending.of(call.signal);
    return ending;
  };
  return {
    list: (filter) => tools.list(call.principal, filter),
    call: async (name, args = {}, options = {}) =>
      tools.call({ ...options, name, args, principal: call.principal, hops: call.hops, ask: call.ask, ending: end() }),
  };
}
