import { type Added, type Call, ExtendedCall } from '../call.ts';
import type { Layer } from '../handler.ts';
import { type CallerTools, callerTools } from '../tools/caller-tools.ts';
import type { ToolRegistry } from '../tools/tool-registry.ts';

/** Gives an agent the tools its caller may use. */
export function withTools(registry: () => ToolRegistry | undefined): Layer {
  return (next) => (envelope, call) => {
    const tools = registry();
    return next(envelope, tools === undefined ? call : new ExtendedCall(call, new AddedTools(tools, call)));
  };
}

/** Made when the agent asks for them. */
class AddedTools implements Added {
  readonly #registry: ToolRegistry;
  readonly #call: Call;
  #tools: CallerTools | undefined;

  constructor(registry: ToolRegistry, call: Call) {
    this.#registry = registry;
    this.#call = call;
  }

  get tools(): CallerTools {
    this.#tools ??= callerTools(this.#registry, this.#call);
    return this.#tools;
  }
}
