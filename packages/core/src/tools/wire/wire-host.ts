import { type Json, type JsonLimits, type JsonObject, oneLineJson } from '@dragoman/protocols';
import { newError } from '@dragoman/protocols/a2e-wire';
import { ALL_PERMISSIONS, type Principal } from '../../call/principal.ts';
import { type ConnectionPlace, ConnectionPlaces, OWN_PLACE } from '../../limits/connection-places.ts';
import type { Clock, Ids, Log } from '../../ports/ports.ts';
import { JsonReader } from '../../worker-threads/json-reader.ts';
import type { Audit } from './audit.ts';
import { BacklogRoom } from './backlog.ts';
import type { WireSink } from './connection-parts.ts';
import type { WirePlugin } from './plugin.ts';
import { type HostedType, PluginTable } from './plugin-table.ts';
import { requireCallable } from './type-fault.ts';
import { WireConnection } from './wire-connection.ts';
import { DEFAULT_WIRE_LIMITS, type WireLimits } from './wire-limits.ts';

export interface WireHostOptions {
  readonly plugins: readonly WirePlugin[];
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** The owner of a key that was sent from an address. */
  readonly authenticate: (key: string, address: string) => Principal | undefined;
  /** A connected caller with its current permissions. Default: unchanged. */
  readonly renewed?: (principal: Principal) => Principal;
  /** The network of an address, within which a peer can easily change its address. Default: the address itself. */
  readonly groupOf?: (address: string) => string;
  /** Counts a request against its caller's limits, or throws `Refused`. */
  readonly count: (principal: Principal) => void;
  readonly audit?: Audit;
  /** Keeps the states of plugins across restarts. */
  readonly states?: PluginStates;
  readonly limits?: Partial<WireLimits>;
  /** JSON limits of received messages. */
  readonly jsonLimits?: JsonLimits;
  /** Parses messages. Default: a new reader. */
  readonly reader?: JsonReader;
}

/** The saved states, by the name of the plugin. */
export interface PluginStates {
  load(name: string): Json | undefined;
  save(name: string, state: Json): void;
  /** The path of a state, for the operator. */
  place?(name: string): string;
}

export interface Entrance {
  /** The principal that the transport has authenticated. If set, a token is optional. */
  readonly principal?: Principal;
  /** Whether the operator started the agent, which then counts as the operator if it sends no token. */
  readonly isLocal?: boolean;
}

/** The A2E wire host: makes a session for every connection, on any transport. */
export class WireHost implements AsyncDisposable {
  readonly #options: WireHostOptions;
  readonly #plugins: PluginTable;
  readonly #limits: WireLimits;
  readonly #reader: JsonReader;
  readonly #places: ConnectionPlaces;
  readonly #startedAt: Date;
  readonly #backlogRoom = new BacklogRoom();
  readonly #connections = new Set<WireConnection>();
  #isStopping = false;
  #onEmpty = () => {};

  constructor(options: WireHostOptions) {
    this.#options = options;
    this.#reader = options.reader ?? new JsonReader();
    requireOwnNames(options.plugins);
    requireCallable(options.plugins);
    this.#plugins = new PluginTable(options.plugins);
    this.#limits = { ...DEFAULT_WIRE_LIMITS, ...options.limits };
    this.#places = new ConnectionPlaces(this.#limits);
    this.#startedAt = options.clock.now();
  }

  /** Starts all plugins. If one fails, those before it are stopped again. */
  async start(): Promise<void> {
    const { plugins } = this.#options;
    for (const [index, plugin] of plugins.entries()) {
      try {
        await this.#restore(plugin);
        await plugin.setup?.();
      } catch (error) {
        for (const ready of plugins.slice(0, index).toReversed()) await this.#teardown(ready);
        throw new Error(`plugin ${plugin.name} cannot be started: ${textOf(error)}`, { cause: error });
      }
    }
  }

  async #restore(plugin: WirePlugin): Promise<void> {
    const { states } = this.#options;
    const state = plugin.restore === undefined ? undefined : states?.load(plugin.name);
    if (state === undefined) return;
    try {
      await plugin.restore?.(state);
    } catch (error) {
      const place = states?.place?.(plugin.name);
      const wayOut = place === undefined ? '' : `; to start it without that, move ${place} away`;
      throw new Error(`it rejected its saved state: ${textOf(error)}${wayOut}`, { cause: error });
    }
  }

  /**
   * Makes the session of a new connection. Returns `undefined` if there are too many connections; the peer has received
   * the error then.
   */
  connect(sink: WireSink, entrance: Entrance = {}, address = ''): WireConnection | undefined {
    const place = this.#placeFor(entrance, address);
    if (place === undefined) {
      sink.send(this.#busy());
      return undefined;
    }
    const { principal, isLocal = false } = entrance;
    const { clock, ids, log, authenticate, renewed = itself, count, audit, jsonLimits } = this.#options;
    const connection = new WireConnection({
      plugins: this.#plugins,
      clock,
      ids,
      log,
      jsonLimits,
      reader: this.#reader,
      limits: isLocal ? { ...this.#limits, idleMs: 0 } : this.#limits,
      startedAt: this.#startedAt,
      identify: (token) =>
        token === '' && isLocal ? OPERATOR : identified(token, principal, (key) => authenticate(key, address)),
      renewed,
      seat: (caller) => place.belongsTo(caller),
      // The operator has no limits.
      count: (caller) => (caller === OPERATOR ? undefined : count(caller)),
      audit,
      sink,
      backlogRoom: this.#backlogRoom,
      onClosed: (closed) => {
        this.#connections.delete(closed);
        place.giveBack();
        if (this.#connections.size === 0) this.#onEmpty();
      },
    });
    this.#connections.add(connection);
    return connection;
  }

  /** Every request type that is hosted here. */
  types(): HostedType[] {
    return this.#plugins.types();
  }

  /** The number of open connections. */
  get connections(): number {
    return this.#connections.size;
  }

  /** Closes the connections of some callers, such as those whose key was revoked. */
  disconnect(isGone: (principal: Principal) => boolean): void {
    for (const connection of this.#connections) {
      if (connection.principal !== undefined && isGone(connection.principal)) connection.lost();
    }
  }

  /** Accepts nothing new, lets running requests finish for `drainMs`, ends the rest, and stops the plugins. */
  async stop({ drainMs }: { readonly drainMs: number }): Promise<void> {
    if (this.#isStopping) return;
    this.#isStopping = true;
    const empty = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    for (const connection of this.#connections) connection.drain(drainMs);
    if (this.#connections.size > 0) await empty;
    for (const plugin of this.#options.plugins.toReversed()) {
      await this.#save(plugin);
      await this.#teardown(plugin);
    }
  }

  // The failure of one plugin here must not keep the others from stopping; they may have programs to end.

  async #save(plugin: WirePlugin): Promise<void> {
    try {
      const state = await plugin.save?.();
      if (state !== undefined) this.#options.states?.save(plugin.name, state);
    } catch (error) {
      this.#options.log.error(
        { plugin: plugin.name, error: textOf(error) },
        'the state of a plugin could not be saved',
      );
    }
  }

  async #teardown(plugin: WirePlugin): Promise<void> {
    try {
      await plugin.teardown?.();
    } catch (error) {
      this.#options.log.error({ plugin: plugin.name, error: textOf(error) }, 'a plugin could not be stopped');
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop({ drainMs: 0 });
  }

  #placeFor({ principal, isLocal = false }: Entrance, address: string): ConnectionPlace | undefined {
    if (this.#isStopping || this.#connections.size >= this.#limits.maxConnections) return undefined;
    const { groupOf = (one) => one } = this.#options;
    return isLocal ? OWN_PLACE : this.#places.take(principal, groupOf(address));
  }

  #busy(): string {
    const { ids, clock } = this.#options;
    const message = 'too many connections are open already; try again later';
    return oneLineJson(
      newError({ code: 'busy', reqId: '', message }, { id: ids.hex(), now: clock.now() }) as JsonObject,
    );
  }
}

/** The state of a plugin is stored under its name, so names must be unique. */
function requireOwnNames(plugins: readonly WirePlugin[]): void {
  const known = new Set<string>();
  for (const { name } of plugins) {
    if (known.has(name)) throw new Error(`two plugins are named ${name}: give each a different name`);
    known.add(name);
  }
}

function itself(principal: Principal): Principal {
  return principal;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A token is used if the transport has no proven caller; otherwise both must name the same one. */
function identified(
  token: string,
  proven: Principal | undefined,
  authenticate: (key: string) => Principal | undefined,
): Principal | undefined {
  if (token === '') return proven;
  const found = authenticate(token);
  // An admin key is not an agent.
  if (found === undefined || found.kind !== 'agent') return undefined;
  return proven === undefined || proven.id === found.id ? found : undefined;
}

/** The operator who started the process and uses its standard input. */
const OPERATOR: Principal = { id: 'admin', kind: 'admin', permissions: ALL_PERMISSIONS };
