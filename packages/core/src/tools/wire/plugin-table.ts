import { type AcceptedCapability, lookup, type WireMessage } from '@dragoman/protocols/a2e-wire';
import type { Answered, WireCall, WirePlugin } from './plugin.ts';

/** Which plugin takes which message. */
export class PluginTable {
  readonly #byType = new Map<string, readonly WirePlugin[]>();
  readonly capabilities: readonly AcceptedCapability[];
  /** The types that the protocol itself does not have, and the capability each belongs to. */
  readonly ownTypes: ReadonlyMap<string, string>;

  constructor(plugins: readonly WirePlugin[]) {
    const ordered = plugins.toSorted((a, b) => (b.priority ?? 0) - (a.priority ?? 0));
    for (const plugin of ordered) {
      for (const type of plugin.messages) {
        const before = this.#byType.get(type) ?? [];
        if (before.at(-1)?.exclusive !== true) this.#byType.set(type, [...before, plugin]);
      }
    }
    this.capabilities = capabilitiesOf(ordered);
    const own = [...this.#byType].filter(([type]) => lookup(type) === undefined);
    this.ownTypes = new Map(own.map(([type, [first]]) => [type, first?.capability ?? '']));
  }

  /** The type that answers this one; `undefined` when nobody here takes it. */
  answerTo(type: string): string | undefined {
    if (!this.#byType.has(type)) return undefined;
    // A2E wire, Type String Convention: what a `/req` asks a `/resp` answers.
    return lookup(type)?.answer ?? `${type.replace(/\/req$/, '')}/resp`;
  }

  /** Asks one after the other until one answers. */
  handle(message: WireMessage, call: WireCall): Answered | Promise<Answered> {
    const plugins = this.#byType.get(message.type);
    const answered = plugins?.[0]?.handle(message, call);
    if (plugins === undefined || plugins.length === 1) return answered;
    return firstAnswer(answered, plugins.slice(1), message, call);
  }
}

async function firstAnswer(
  answered: Answered | Promise<Answered>,
  others: readonly WirePlugin[],
  message: WireMessage,
  call: WireCall,
): Promise<Answered> {
  let fields = await answered;
  for (const plugin of others) fields ??= await plugin.handle(message, call);
  return fields;
}

/** One row a capability, told by the first plugin that has it. */
function capabilitiesOf(plugins: readonly WirePlugin[]): AcceptedCapability[] {
  const rows = new Map<string, AcceptedCapability>();
  for (const { name, capability, priority = 0, exclusive = false } of plugins) {
    if (rows.has(capability)) continue;
    rows.set(capability, { capability, enabled: true, metadata: { name, type: capability, priority, exclusive } });
  }
  return [...rows.values()];
}
