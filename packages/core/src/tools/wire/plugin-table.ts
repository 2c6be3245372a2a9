import type { JsonSchema } from '@dragoman/protocols';
import { type AcceptedCapability, lookup, type WireMessage } from '@dragoman/protocols/a2e-wire';
import { answerTypeOf } from './own-plugin.ts';
import type { Answered, WireCall, WirePlugin } from './plugin.ts';

/** Finds the plugins for a message type. */
export class PluginTable {
  readonly #byType = new Map<string, readonly WirePlugin[]>();
  /** The plugins that take all other types, by priority. */
  readonly #rest: readonly WirePlugin[];
  readonly capabilities: readonly AcceptedCapability[];
  /** The types that the protocol does not define, each with its capability. */
  readonly ownTypes: ReadonlyMap<string, string>;
  /** The capability that a handshake grants for all other types; `undefined` without such a plugin. */
  readonly restCapability: string | undefined;

  constructor(plugins: readonly WirePlugin[]) {
    const ordered = plugins.toSorted((a, b) => (b.priority ?? 0) - (a.priority ?? 0));
    for (const plugin of ordered) {
      for (const type of plugin.messages) {
        const before = this.#byType.get(type) ?? [];
        if (before.at(-1)?.exclusive !== true) this.#byType.set(type, [...before, plugin]);
      }
    }
    this.#rest = this.#byType.get(WHAT_IS_LEFT) ?? [];
    this.restCapability = this.#rest[0]?.capability;
    this.#byType.delete(WHAT_IS_LEFT);
    for (const [type, named] of this.#byType) {
      if (named.at(-1)?.exclusive !== true) this.#byType.set(type, [...named, ...this.#rest]);
    }
    this.capabilities = capabilitiesOf(ordered);
    const own = [...this.#byType].filter(([type]) => lookup(type) === undefined);
    this.ownTypes = new Map(own.map(([type, [first]]) => [type, first?.capability ?? '']));
  }

  /** The type of the answer to this type; `undefined` if no plugin takes it. */
  answerTo(type: string): string | undefined {
    if (this.#takers(type).length === 0) return undefined;
    return lookup(type)?.answer ?? answerTypeOf(type);
  }

  /** All request types that plugins name, with the schemas that they declare. */
  types(): HostedType[] {
    return [...this.#byType].flatMap(([type, [first]]) => {
      const answer = this.answerTo(type);
      if (first === undefined || answer === undefined) return [];
      const { capability, schemas = {} } = first;
      return { type, capability: lookup(type)?.capability ?? capability, answer, ...declared(schemas, type, answer) };
    });
  }

  /** The request types of the same namespace that are answered, in alphabetical order. */
  hostedBeside(type: string): string[] {
    const namespace = type.slice(0, type.indexOf('/') + 1);
    return [...this.#byType.keys()].filter((other) => namespace !== '' && other.startsWith(namespace)).toSorted();
  }

  /** Calls the plugins for a message in turn until one answers. */
  handle(message: WireMessage, call: WireCall): Answered | Promise<Answered> {
    const plugins = this.#takers(message.type);
    const answered = promised(plugins[0]?.handle(message, call));
    // A synchronous answer stays synchronous.
    const isAnswered = answered !== undefined && !(answered instanceof Promise);
    if (isAnswered || plugins.length <= 1) return answered;
    return firstAnswer(answered, plugins.slice(1), message, call);
  }

  #takers(type: string): readonly WirePlugin[] {
    return this.#byType.get(type) ?? this.#rest;
  }
}

/** A request type of this host. */
export interface HostedType {
  readonly type: string;
  readonly capability: string;
  readonly answer: string;
  /** The schemas that the plugin declares. */
  readonly schema?: JsonSchema;
  readonly answerSchema?: JsonSchema;
}

function declared(schemas: Readonly<Record<string, JsonSchema>>, type: string, answer: string) {
  const [schema, answerSchema] = [schemas[type], schemas[answer]];
  return { ...(schema !== undefined && { schema }), ...(answerSchema !== undefined && { answerSchema }) };
}

/**
 * Converts other thenables, such as the queries of some databases, to a promise; otherwise their members would be read
 * as fields.
 */
function promised(answered: Answered | Promise<Answered>): Answered | Promise<Answered> {
  if (answered === undefined || answered === null || answered instanceof Promise) return answered;
  return typeof answered['then'] === 'function' ? Promise.resolve(answered) : answered;
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

/** One row for each capability, from the first plugin that has it. */
function capabilitiesOf(plugins: readonly WirePlugin[]): AcceptedCapability[] {
  const rows = new Map<string, AcceptedCapability>();
  for (const { name, capability, priority = 0, exclusive = false } of plugins) {
    if (rows.has(capability)) continue;
    rows.set(capability, { capability, enabled: true, metadata: { name, type: capability, priority, exclusive } });
  }
  return [...rows.values()];
}

/** In `messages` of a plugin: all types that no other plugin takes. */
const WHAT_IS_LEFT = '*';
