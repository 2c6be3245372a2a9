import type { Ask } from '../call/ask.ts';
import type { CallerTools } from '../call/caller-tools.ts';
import type { Principal } from '../call/principal.ts';
import { Ending } from '../ending/ending.ts';
import type { ToolRegistry } from './tool-registry.ts';

/** An agent's tool calls use the caller's permissions, and end with the call. */
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
  // Shared by all tool calls: otherwise each would add a listener to the signal for as long as the call lasts.
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
