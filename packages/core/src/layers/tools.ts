import type { E2AEnvelope } from '@dragoman/protocols';
import { type Added, type Call, ExtendedCall } from '../call/call.ts';
import type { CallerTools } from '../call/caller-tools.ts';
import type { Layer } from '../call/handler.ts';
import { hopsOf } from '../call/hops.ts';
import { callerTools } from '../tools/caller-tools.ts';
import type { ToolRegistry } from '../tools/tool-registry.ts';

/** Gives an agent the tools its caller may use. */
export function withTools(registry: () => ToolRegistry | undefined): Layer {
  return (next) => (envelope, call) => {
    const tools = registry();
    return next(envelope, tools === undefined ? call : new ExtendedCall(call, new AddedTools(tools, call, envelope)));
  };
}

/** Creates the tools only when the agent reads them. */
class AddedTools implements Added {
  readonly #registry: ToolRegistry;
  readonly #call: Call;
  readonly #envelope: E2AEnvelope;
  #tools: CallerTools | undefined;

  constructor(registry: ToolRegistry, call: Call, envelope: E2AEnvelope) {
    this.#registry = registry;
    this.#call = call;
    this.#envelope = envelope;
  }

  get tools(): CallerTools {
    const { principal, signal, ask } = this.#call;
    this.#tools ??= callerTools(this.#registry, { principal, signal, ask, hops: hopsOf(this.#envelope) + 1 });
    return this.#tools;
  }
}
