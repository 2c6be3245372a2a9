import {
  type Clock,
  type Engine,
  FixedTools,
  type Gate,
  type Ids,
  type Log,
  openTools,
  type RunWorkflow,
  ToolRegistry,
  toolsPlugin,
  WireHost,
  type WirePlugin,
} from '@dragoman/core';
import type { Config } from './config-schema.ts';
import { NdjsonSocketEdge } from './edges/ndjson-socket.ts';

export interface WireOptions {
  readonly config: Config;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly gate?: Gate;
  readonly runWorkflow?: RunWorkflow;
}

/** The tools of a server and the A2E wire host in front of them. */
export class Wire {
  readonly tools: ToolRegistry;
  readonly host: WireHost;
  /** Where agents connect over TCP; `undefined` when no port is opened. */
  url: string | undefined;
  /** The path of the unix socket; `undefined` when there is none. */
  socket: string | undefined;
  readonly #edge: NdjsonSocketEdge;

  constructor({ tools, host, edge }: { tools: ToolRegistry; host: WireHost; edge: NdjsonSocketEdge }) {
    this.tools = tools;
    this.host = host;
    this.#edge = edge;
  }

  /** Opens what the configuration asks for. */
  async listen({ wire, host = '127.0.0.1' }: Config): Promise<void> {
    if (wire?.port !== undefined) this.url = await this.#edge.listenTcp({ host, port: wire.port });
    if (wire?.socket === undefined) return;
    await this.#edge.listenUnix(wire.socket);
    this.socket = wire.socket;
  }

  async stop({ drainMs }: { readonly drainMs: number }): Promise<void> {
    const closed = this.#edge.close();
    await this.host.stop({ drainMs });
    await this.#edge[Symbol.asyncDispose]();
    await closed;
  }
}

export async function openWire({ config, engine, clock, ids, log, ...backends }: WireOptions): Promise<Wire> {
  const tools = new ToolRegistry({ clock });
  tools.add(new FixedTools(await openTools(config.tools ?? [], { engine, ids, ...backends })));
  const plugins: WirePlugin[] = [toolsPlugin({ tools, clock })];
  const host = new WireHost({
    plugins,
    clock,
    ids,
    log,
    authenticate: (secret) => {
      const key = engine.keys.find(secret);
      return key === undefined ? undefined : engine.callers.principalOf(key);
    },
    count: (principal) => void engine.limiter.request(principal),
    limits: limitsOf(config),
  });
  await host.start();
  engine.keys.onRevoked((keyId) => host.disconnect((principal) => principal.keyId === keyId));
  const maxLineBytes = config.wire?.max_message_bytes;
  const edge = new NdjsonSocketEdge({ host, clock, limits: maxLineBytes === undefined ? {} : { maxLineBytes } });
  return new Wire({ tools, host, edge });
}

function limitsOf({ wire = {} }: Config) {
  const { max_parallel, max_queued, max_connections, idle_seconds } = wire;
  return {
    ...(max_parallel !== undefined && { maxParallel: max_parallel }),
    ...(max_queued !== undefined && { maxQueued: max_queued }),
    ...(max_connections !== undefined && { maxConnections: max_connections }),
    ...(idle_seconds !== undefined && { idleMs: idle_seconds * 1000 }),
  };
}
