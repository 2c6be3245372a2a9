import type { Layer } from '../handler.ts';
import { callerTools } from '../tools/caller-tools.ts';
import type { ToolRegistry } from '../tools/tool-registry.ts';

/** Gives an agent the tools its caller may use. */
export function withTools(registry: () => ToolRegistry | undefined): Layer {
  return (next) => (envelope, call) => {
    const tools = registry();
    return next(envelope, tools === undefined ? call : { ...call, tools: callerTools(tools, call) });
  };
}
