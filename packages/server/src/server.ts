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
  type NetworkGate,
  openAgent,
  openSqliteStore,
  openWorkflows,
  type Principal,
  type Store,
  type WindowState,
  type Workflows,
} from '@dragoman/core';
import { type Failure, failure } from '@dragoman/protocols';
import type { Config } from './config-schema.ts';
import { type Discovery, openDiscovery } from './discovery.ts';
import type { Counted, CountedCall } from './edges/exchange.ts';
import { HttpEdge } from './edges/http.ts';
import type { LimitState } from './edges/rate-fields.ts';
import type { Route } from './route.ts';
import { adminAgentRoutes } from './routes/admin-agents.ts';
import { adminCredentialRoutes } from './routes/admin-credentials.ts';
import { agentSocketRoute } from './routes/agent-socket.ts';
import { e2aRoutes } from './routes/e2a.ts';
import { e2aSocketRoute } from './routes/e2a-socket.ts';
import { executionRoutes } from './routes/executions.ts';
import { healthRoute } from './routes/health.ts';
import { limitsAndCacheRoutes } from './routes/limits-and-cache.ts';
import { openApiRoute } from './routes/openapi.ts';
import { workflowRoutes } from './routes/workflows.ts';
import { VERSION } from './version.ts';
import { openWayOut } from './way-out.ts';

export interface ServerOptions {
  readonly config: Config;
  /** Where everything durable is kept. */
  readonly folder: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** The admin's key, when the operator brings one. Without it the first start makes one and hands it to `onAdminKey`. */
  readonly adminKey?: string;
  /** The key of the vault, when the operator brings one. Without it there is a key file in the folder. */
  readonly vaultKey?: string;
  readonly onAdminKey?: (key: string) => void;
  /** The disk failed: end the process. */
  readonly onFatal?: (error: Error) => void;
}

/** A running server. This file alone knows every concrete part. */
export class Server implements AsyncDisposable {
  readonly engine: Engine;
  readonly url: string;
  readonly #store: Store;
  readonly #discovery: Discovery;
  readonly #edge: HttpEdge;
  readonly #gate: NetworkGate;
  readonly workflows: Workflows;
  #stopped: Promise<void> | undefined;

  constructor({ engine, store, discovery, edge, gate, url, workflows }: ServerParts) {
    this.engine = engine;
    this.url = url;
    this.#store = store;
    this.#discovery = discovery;
    this.#edge = edge;
    this.#gate = gate;
    this.workflows = workflows;
  }

  /** Takes nothing new, lets what runs finish for a while, ends the rest as interrupted, and closes the store. */
  stop({ drainMs = 10_000 }: { drainMs?: number } = {}): Promise<void> {
    this.#stopped ??= (async () => {
      const closed = this.#edge.close({ drainMs });
      await Promise.all([this.engine.stop({ drainMs }), this.workflows.stop(drainMs)]);
      await closed;
      await this.#discovery.knowledge[Symbol.asyncDispose]();
      await this.#gate[Symbol.asyncDispose]();
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
  readonly discovery: Discovery;
  readonly edge: HttpEdge;
  readonly gate: NetworkGate;
  readonly url: string;
  readonly workflows: Workflows;
}

export async function startServer(options: ServerOptions): Promise<Server> {
  const { config, folder, clock, ids, log } = options;
  const store = await openStore(options);
  try {
    const { vault, gate } = await openWayOut({ config, folder, store, clock, log, vaultKey: options.vaultKey });
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
      const agent = await openAgent(id, definition, { clock, ids, log, folder, hub, gate });
      engine.addAgent(agent, { maxParallel: definition.max_parallel ?? 8 });
    };
    await Promise.all(Object.entries(config.agents ?? {}).map(([id, definition]) => addAgent(id, definition)));
    await engine.callers.load();
    for (const definition of engine.callers.list()) {
      if (definition.driver !== undefined) await addAgent(definition.agent_id, definition as DriverDefinition);
    }
    await engine.start();
    const discovery = await openDiscovery({ config, store, clock, log, gate, credentials: vault });
    const workflows = openWorkflows({
      store,
      folder,
      gate,
      apis: discovery.apis,
      credentials: vault,
      limiter: engine.limiter,
      principalNamed: (id) => engine.principalNamed(id),
      clock,
      ids,
      log,
      ...(config.workflows !== undefined && { limits: config.workflows }),
      ...(config.keep_answers_hours !== undefined && { keepMs: config.keep_answers_hours * 3_600_000 }),
    });
    await workflows.executions.start();
    await provideAdminKey(engine, options);
    const context = { engine, store, clock, ids, log };
    const routes: Route[] = [
      healthRoute(VERSION),
      ...e2aRoutes(context),
      ...workflowRoutes({ workflows, clock }),
      ...executionRoutes({ workflows, clock }),
      ...limitsAndCacheRoutes({ limiter: engine.limiter, workflows }),
      ...adminAgentRoutes({ engine, openAgent: (definition) => opened(addAgent, definition) }),
      ...discovery.routes,
      ...adminCredentialRoutes(vault),
    ];
    routes.push(openApiRoute(routes, VERSION));
    const host = config.host ?? '127.0.0.1';
    const edge = new HttpEdge({
      routes,
      sockets: [e2aSocketRoute(context), agentSocketRoute(hub)],
      clock,
      ids,
      log,
      hosts: [host, 'localhost', '127.0.0.1', '[::1]', ...(config.allowed_hosts ?? [])],
      origins: config.allowed_origins ?? [],
      authenticate: (key) => authenticate(engine, key),
      count: (call) => count(engine, call),
    });
    engine.keys.onRevoked((keyId) => edge.disconnect((principal) => principal.keyId === keyId));
    const url = await edge.listen({ host, port: config.port ?? 7420 });
    return new Server({ engine, store, discovery, edge, gate, url, workflows });
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
