import {
  type AgentDefinition,
  type AgentPush,
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
import { edgeLimits } from './door-limits.ts';
import type { Counted, CountedCall } from './edges/exchange.ts';
import { HttpEdge } from './edges/http.ts';
import type { LimitState } from './edges/rate-fields.ts';
import { RequestMeter } from './metrics/request-meter.ts';
import { serverMetrics } from './metrics/server-metrics.ts';
import type { Route } from './route.ts';
import { adminAgentRoutes } from './routes/admin-agents.ts';
import { agentSocketRoute } from './routes/agent-socket.ts';
import { e2aRoutes } from './routes/e2a.ts';
import { e2aSocketRoute } from './routes/e2a-socket.ts';
import { healthRoute } from './routes/health.ts';
import { metricsRoute } from './routes/metrics.ts';
import { openApiRoute } from './routes/openapi.ts';
import { Started } from './started.ts';
import { VERSION } from './version.ts';

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
}

/** A running server. This file alone knows every concrete part. */
export class Server implements AsyncDisposable {
  readonly engine: Engine;
  readonly url: string;
  readonly #store: Store;
  readonly #edge: HttpEdge;
  readonly #hub: AgentSocketHub;
  #stopped: Promise<void> | undefined;

  constructor({ engine, store, edge, hub, url }: ServerParts) {
    this.engine = engine;
    this.url = url;
    this.#store = store;
    this.#edge = edge;
    this.#hub = hub;
  }

  /** Takes nothing new, lets what runs finish for a while, ends the rest as interrupted, and closes the store. */
  stop({ drainMs = 10_000 }: { drainMs?: number } = {}): Promise<void> {
    this.#stopped ??= (async () => {
      const closed = this.#edge.close({ drainMs });
      try {
        // Agents that dialled in are listened to as long as anything runs.
        await this.engine.stop({ drainMs }).finally(() => this.#hub.close());
        await closed;
      } finally {
        await this.#store[Symbol.asyncDispose]();
      }
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
  readonly hub: AgentSocketHub;
  readonly url: string;
}

export async function startServer(options: ServerOptions): Promise<Server> {
  const { config, folder, clock, ids, log } = options;
  const store = await openStore(options);
  const ends: (() => PromiseLike<unknown>)[] = [() => store[Symbol.asyncDispose]()];
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
    ends.unshift(() => engine.stop({ drainMs: 0 }));
    const onPush = (push: AgentPush) => engine.pushes.deliver(push);
    const hub = new AgentSocketHub({ clock, ids, log, onPush });
    endOrphans({ folder: childrenFolder(folder), log });
    const addAgent = async (id: string, definition: DriverDefinition) => {
      const agent = await openAgent(id, definition, { clock, ids, log, folder, hub, onPush });
      engine.addAgent(agent, { maxParallel: definition.max_parallel ?? 8 });
    };
    await Promise.all(Object.entries(config.agents ?? {}).map(([id, definition]) => addAgent(id, definition)));
    await engine.callers.load();
    for (const definition of engine.callers.list()) {
      if (definition.driver !== undefined) await addAgent(definition.agent_id, definition as DriverDefinition);
    }
    const limits = config.limits ?? {};
    const context = { engine, store, clock, ids, log, limits };
    const meter = new RequestMeter();
    const measured = { engine, store, edge: () => edge.load };
    const routes: Route[] = [
      healthRoute(VERSION),
      metricsRoute(async () => [...meter.metrics(), ...(await serverMetrics(measured))]),
      ...e2aRoutes(context),
      ...adminAgentRoutes({ engine, openAgent: (definition) => opened(addAgent, definition) }),
    ];
    routes.push(openApiRoute(routes, VERSION));
    const host = config.host ?? '127.0.0.1';
    const started = new Started();
    const edge: HttpEdge = new HttpEdge({
      routes,
      sockets: [e2aSocketRoute(context), agentSocketRoute(hub)],
      clock,
      ids,
      log,
      hosts: [host, 'localhost', '127.0.0.1', '::1', ...(config.allowed_hosts ?? [])],
      origins: config.allowed_origins ?? [],
      authenticate: (key) => started.once(() => authenticate(engine, key)),
      count: (call) => count(engine, call),
      observe: (seen) => meter.observe(seen),
      ...edgeLimits(limits),
    });
    engine.keys.onRevoked((keyId) => edge.disconnect((principal) => principal.keyId === keyId));
    ends.unshift(() => edge.close({ drainMs: 0 }));
    const url = await edge.listen({ host, port: config.port ?? 7420 });
    // Not before the port is ours: what an earlier process left would be started only to be ended.
    await engine.start();
    await provideAdminKey(engine, options);
    started.now();
    return new Server({ engine, store, edge, hub, url });
  } catch (error) {
    for (const end of ends)
      await Promise.resolve(end()).catch((fault) => log.warn({ error: String(fault) }, 'a part did not end well'));
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
