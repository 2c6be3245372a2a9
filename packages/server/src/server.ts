import {
  type AgentDefinition,
  AgentSocketHub,
  type Clock,
  childrenFolder,
  type DriverDefinition,
  Engine,
  endOrphans,
  failureOf,
  type Ids,
  type Log,
  MemoryStore,
  openAgent,
  openSqliteStore,
  type Principal,
  type Store,
  type WindowState,
} from '@dragoman/core';
import { type Failure, failure } from '@dragoman/protocols';
import type { Config } from './config-schema.ts';
import type { Counted, CountedCall } from './edges/exchange.ts';
import { HttpEdge } from './edges/http.ts';
import type { LimitState } from './edges/rate-fields.ts';
import type { Route } from './route.ts';
import { adminAgentRoutes } from './routes/admin-agents.ts';
import { adminToolRoutes } from './routes/admin-tools.ts';
import { agentSocketRoute } from './routes/agent-socket.ts';
import { e2aRoutes } from './routes/e2a.ts';
import { e2aSocketRoute } from './routes/e2a-socket.ts';
import { healthRoute } from './routes/health.ts';
import { openApiRoute } from './routes/openapi.ts';
import { wireRoutes, wireSocketRoute } from './routes/wire.ts';
import { VERSION } from './version.ts';
import { openWire, type Wire } from './wire.ts';

export interface ServerOptions {
  readonly config: Config;
  /** Where everything durable is kept. */
  readonly folder: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** The admin's key, when the operator brings one. Without it the first start makes one and hands it to `onAdminKey`. */
  readonly adminKey?: string;
  readonly onAdminKey?: (key: string) => void;
  /** The disk failed: end the process. */
  readonly onFatal?: (error: Error) => void;
  /** No port is opened: whoever starts it hands it what it serves. */
  readonly isEmbedded?: boolean;
}

/** A running server. This file alone knows every concrete part. */
export class Server implements AsyncDisposable {
  readonly engine: Engine;
  readonly url: string;
  readonly wire: Wire;
  readonly #store: Store;
  readonly #edge: HttpEdge;
  #stopped: Promise<void> | undefined;

  constructor({ engine, store, edge, url, wire }: ServerParts) {
    this.engine = engine;
    this.url = url;
    this.wire = wire;
    this.#store = store;
    this.#edge = edge;
  }

  /** Takes nothing new, lets what runs finish for a while, ends the rest as interrupted, and closes the store. */
  stop({ drainMs = 10_000 }: { drainMs?: number } = {}): Promise<void> {
    this.#stopped ??= (async () => {
      const closed = this.#edge.close({ drainMs });
      await this.wire.stop({ drainMs });
      await this.engine.stop({ drainMs });
      await closed;
      await this.#store[Symbol.asyncDispose]();
    })();
    return this.#stopped;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

interface ServerParts {
  readonly engine: Engine;
  readonly store: Store;
  readonly edge: HttpEdge;
  readonly url: string;
  readonly wire: Wire;
}

export async function startServer(options: ServerOptions): Promise<Server> {
  const { config, folder, clock, ids, log } = options;
  const store = await openStore(options);
  try {
    const engine = new Engine({
      store,
      clock,
      ids,
      log,
      ...(config.default_agent !== undefined && { defaultAgent: config.default_agent }),
      ...(config.limits !== undefined && { limits: config.limits }),
      ...(config.request_timeout_ms !== undefined && { timeoutMs: config.request_timeout_ms }),
      ...(config.keep_answers_hours !== undefined && { keepMs: config.keep_answers_hours * 3_600_000 }),
    });
    const hub = new AgentSocketHub({ clock, ids, log });
    endOrphans({ folder: childrenFolder(folder), log });
    const addAgent = async (id: string, definition: DriverDefinition) => {
      const agent = await openAgent(id, definition, { clock, ids, log, folder, hub });
      engine.addAgent(agent, { maxParallel: definition.max_parallel ?? 8 });
    };
    await Promise.all(Object.entries(config.agents ?? {}).map(([id, definition]) => addAgent(id, definition)));
    await engine.callers.load();
    for (const definition of engine.callers.list()) {
      if (definition.driver !== undefined) await addAgent(definition.agent_id, definition as DriverDefinition);
    }
    await engine.start();
    await provideAdminKey(engine, options);
    const wire = await openWire({ config, engine, store, folder, clock, ids, log });
    const context = { engine, store, clock, ids, log };
    const routes: Route[] = [
      healthRoute(VERSION),
      ...e2aRoutes(context),
      ...wireRoutes({ host: wire.host, clock, ids, maxMessageBytes: config.wire?.max_message_bytes }),
      ...adminToolRoutes(wire),
      ...adminAgentRoutes({ engine, openAgent: (definition) => opened(addAgent, definition) }),
    ];
    routes.push(openApiRoute(routes, VERSION));
    const host = config.host ?? '127.0.0.1';
    const edge = new HttpEdge({
      routes,
      sockets: [e2aSocketRoute(context), agentSocketRoute(hub), wireSocketRoute(wire)],
      clock,
      ids,
      log,
      hosts: [host, 'localhost', '127.0.0.1', '[::1]', ...(config.allowed_hosts ?? [])],
      origins: config.allowed_origins ?? [],
      authenticate: (key) => authenticate(engine, key),
      count: (call) => count(engine, call),
    });
    engine.keys.onRevoked((keyId) => edge.disconnect((principal) => principal.keyId === keyId));
    const url = options.isEmbedded === true ? '' : await edge.listen({ host, port: config.port ?? 7420 });
    if (options.isEmbedded !== true) await wire.listen(config);
    return new Server({ engine, store, edge, url, wire });
  } catch (error) {
    await store[Symbol.asyncDispose]();
    throw error;
  }
}

function openStore({ config, folder, log, onFatal = () => {} }: ServerOptions): Promise<Store> {
  return config.store === 'memory' ? Promise.resolve(new MemoryStore()) : openSqliteStore({ folder, log, onFatal });
}

async function opened(
  addAgent: (id: string, definition: DriverDefinition) => Promise<void>,
  definition: AgentDefinition,
): Promise<Failure | undefined> {
  try {
    await addAgent(definition.agent_id, definition as DriverDefinition);
    return undefined;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return failure('invalid_message', { issues: [{ pointer: '/driver', code: 'driver', message }] }, message);
  }
}

/** The operator's own key wins; else one is made on the first start and shown once. */
async function provideAdminKey(engine: Engine, { adminKey, onAdminKey }: ServerOptions): Promise<void> {
  if (adminKey !== undefined) {
    if (engine.keys.find(adminKey) === undefined) {
      await engine.keys.create({
        agentId: 'admin',
        role: 'admin',
        description: 'from the environment',
        secret: adminKey,
      });
    }
    return;
  }
  const known = (await engine.keys.list()).some((key) => key.role === 'admin' && key.revokedAt === null);
  if (known) return;
  const { secret } = await engine.keys.create({ agentId: 'admin', role: 'admin', description: 'first start' });
  onAdminKey?.(secret);
}

/** One answer for every key that does not open: which of the reasons it was is nobody's business. */
function authenticate(engine: Engine, secret: string): Principal | Failure {
  const key = engine.keys.find(secret);
  const principal = key === undefined ? undefined : engine.callers.principalOf(key);
  return principal ?? failure('unauthenticated');
}

function count(engine: Engine, { principal }: CountedCall): Counted {
  if (principal === undefined) return { limits: [] };
  try {
    return { limits: tightestFirst(engine.limiter.request(principal)) };
  } catch (error) {
    const refused = failureOf(error);
    if (refused === undefined) throw error;
    return { limits: tightestFirst(engine.limiter.states(principal)), failure: refused };
  }
}

function tightestFirst(states: readonly WindowState[]): LimitState[] {
  return states.map(limitState).sort((a, b) => a.remaining / a.limit - b.remaining / b.limit);
}

function limitState({ window, remaining, resetAt }: WindowState): LimitState {
  const name = window.name.replace('requests_per_', '');
  return { name, limit: window.limit, remaining, windowSeconds: window.seconds, resetAt };
}
