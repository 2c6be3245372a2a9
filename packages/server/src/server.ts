import {
  type Agent,
  type AgentDefinition,
  type AgentPush,
  AgentSocketHub,
  type Clock,
  checkAdminKey,
  childrenFolder,
  type DriverDefinition,
  Engine,
  endOrphans,
  type Ids,
  JsonReader,
  type Log,
  loadOperations,
  openAgent,
  openMemoryStore,
  openSqliteStore,
  provideAdminKey,
  Signatures,
  type Store,
  Strangers,
  UnreadBudget,
  unopenedAgent,
} from '@dragoman/core';
import { type Failure, failure } from '@dragoman/protocols';
import { AnsweringAgents } from './answering-agents.ts';
import type { Config } from './config-schema.ts';
import { countRequest } from './count-request.ts';
import { edgeLimits, intakeLimits, jsonLimits, unreadBytes } from './door-limits.ts';
import { isInList, proxyList } from './edges/address.ts';
import { ConnectionShares } from './edges/connection-shares.ts';
import type { Counted, CountedCall } from './edges/exchange.ts';
import { HttpEdge } from './edges/http.ts';
import { openIntake } from './edges/intake.ts';
import { tightestFirst } from './edges/limit-state.ts';
import { connectionLimit, openFileLimit } from './edges/open-files.ts';
import { Endings } from './endings.ts';
import { keptAnswers } from './kept-answers.ts';
import { KeyCheck } from './key-check.ts';
import { openKnowledge } from './knowledge-service.ts';
import { anonymousAgents, anonymousSender } from './mailbox-config.ts';
import { openMailbox } from './mailbox-service.ts';
import { type MessagesService, openMessages } from './messages-service.ts';
import { RequestMeter, type SeenRequest } from './metrics/request-meter.ts';
import { serverMetrics } from './metrics/server-metrics.ts';
import { isLoopback, logReachable } from './reachable.ts';
import { type Reloaded, Reloading, type ReloadOptions } from './reload.ts';
import { reloadableAgents } from './reloadable-agents.ts';
import { reloadableApis, reloadableDefault, reloadableGate, reloadableLimits } from './reloadable-parts.ts';
import type { Route } from './route.ts';
import { adminAgentRoutes, type Opened } from './routes/admin-agents.ts';
import { adminCredentialRoutes } from './routes/admin-credentials.ts';
import { adminDataRoutes } from './routes/admin-data.ts';
import { adminRequestRoutes } from './routes/admin-requests.ts';
import { adminToolRoutes } from './routes/admin-tools.ts';
import { agentSocketRoute } from './routes/agent-socket.ts';
import { e2aRoutes } from './routes/e2a.ts';
import { e2aSocketRoute } from './routes/e2a-socket.ts';
import { healthRoute } from './routes/health.ts';
import { metricsRoute } from './routes/metrics.ts';
import { openApiRoute } from './routes/openapi.ts';
import { wireRoutes, wireSocketRoute } from './routes/wire.ts';
import type { ServiceOptions } from './service-options.ts';
import { Started } from './started.ts';
import { VERSION } from './version.ts';
import { openWayOut } from './way-out.ts';
import { openWire, type Wire } from './wire.ts';
import { openWorkflowService } from './workflow-service.ts';

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
  /** Start although the database has lost recorded history. Default: false. */
  readonly acceptLoss?: boolean;
  /** The disk failed: end the process. */
  readonly onFatal?: (error: Error) => void;
  /** No port is opened: whoever starts it hands it what it serves. */
  readonly isEmbedded?: boolean;
  /** What an operator does to accept a changed tool of an MCP server, where there is no server to ask. */
  readonly howToAccept?: (tool: string) => string;
}

/** A running server. This file alone knows every concrete part. */
export class Server implements AsyncDisposable {
  readonly engine: Engine;
  readonly url: string;
  /** Where its administration is: the same, unless it has a listener of its own. */
  readonly adminUrl: string;
  readonly wire: Wire;
  readonly messages: MessagesService;
  readonly #endings: Endings;
  readonly #reloading: Reloading;
  #stopped: Promise<void> | undefined;

  constructor({ engine, wire, messages, url, adminUrl, endings, reloading }: ServerParts) {
    this.engine = engine;
    this.wire = wire;
    this.messages = messages;
    this.url = url;
    this.adminUrl = adminUrl;
    this.#endings = endings;
    this.#reloading = reloading;
  }

  /**
   * Takes over a changed configuration, as far as that can be done while it runs, and tells what waits for the next start.
   * Rejects when it cannot, as where an agent cannot be opened; then everything is as it was.
   */
  reload(config: Config, options?: ReloadOptions): Promise<Reloaded> {
    return this.#reloading.reload(config, options);
  }

  /** Takes nothing new, lets what runs finish for a while, ends the rest as interrupted, and closes the store. */
  stop({ drainMs = 10_000 }: { drainMs?: number } = {}): Promise<void> {
    this.#stopped ??= this.#endings.end(drainMs);
    return this.#stopped;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

interface ServerParts {
  readonly engine: Engine;
  readonly wire: Wire;
  readonly messages: MessagesService;
  readonly url: string;
  readonly adminUrl: string;
  readonly endings: Endings;
  readonly reloading: Reloading;
}

export async function startServer(options: ServerOptions): Promise<Server> {
  const { config, folder, clock, ids, log } = options;
  // Before anything is opened.
  checkAdminKey(options.adminKey);
  const store = await openStore(options);
  const endings = new Endings();
  endings.add(() => store[Symbol.asyncDispose]());
  try {
    const { vault, gate } = await openWayOut({ config, folder, store, clock, log, vaultKey: options.vaultKey });
    endings.add(() => gate[Symbol.asyncDispose]());
    const signatures = new Signatures();
    endings.add(() => signatures[Symbol.asyncDispose]());
    const reader = new JsonReader();
    endings.add(() => reader[Symbol.asyncDispose]());
    const engine = new Engine({
      store,
      clock,
      ids,
      log,
      ...(config.default_agent !== undefined && { defaultAgent: config.default_agent }),
      ...(config.limits !== undefined && { limits: config.limits }),
      ...(config.request_timeout_ms !== undefined && { timeoutMs: config.request_timeout_ms }),
      ...keptAnswers(config),
      strangerOf: (owner) => anonymousSender(config.mailbox ?? {}, owner, agents),
    });
    endings.add((drainMs) => engine.stop({ drainMs }));
    const strangers = new Strangers({ clock, perMinute: config.messages?.unproven_per_minute ?? 120 });
    const keyCheck = new KeyCheck({ engine, strangers });
    const onPush = (push: AgentPush) => engine.pushes.deliver(push);
    const { message_bytes: maxFrameBytes } = config.limits ?? {};
    const hub = new AgentSocketHub({
      clock,
      ids,
      log,
      onPush,
      reader,
      ...(maxFrameBytes !== undefined && { maxFrameBytes }),
    });
    endOrphans({ folder: childrenFolder(folder), log });
    const open = (id: string, definition: DriverDefinition) =>
      openAgent(id, definition, { clock, ids, log, folder, hub, gate, onPush, reader });
    const place = (agent: Agent, { max_parallel = 8, idempotent = false }: DriverDefinition) =>
      engine.addAgent(agent, { maxParallel: max_parallel, isIdempotent: idempotent });
    const addAgent = async (id: string, definition: DriverDefinition) => place(await open(id, definition), definition);
    const agents = new AnsweringAgents(config.agents ?? {}, engine.callers);
    await Promise.all(Object.entries(agents.configured).map(([id, definition]) => addAgent(id, definition)));
    await engine.callers.load();
    for (const { agent_id: id, driver, ...definition } of engine.callers.list()) {
      if (driver === undefined) continue;
      // Whoever could mend or remove it needs the server to do so.
      await addAgent(id, { driver, ...definition }).catch((error) => {
        log.error({ agent: id, error: String(error) }, UNOPENED);
        place(unopenedAgent(id), { driver, ...definition });
      });
    }
    const proxies = proxyList(config.trusted_proxies ?? []);
    const connections = {
      most: connectionLimit(config.limits?.connections, openFileLimit(), log),
      isExempt: (address: string) => isInList(proxies, address),
    };
    const intake = openIntake({ clock, ...intakeLimits(config.limits ?? {}), connections });
    // Its connections do not count with those of others: the operator gets in while they take every place.
    const adminIntake = {
      ...intake,
      connections: new ConnectionShares({ most: ADMIN_CONNECTIONS, perAddress: ADMIN_CONNECTIONS }),
    };
    const service: ServiceOptions = { config, folder, engine, store, gate, clock, ids, log };
    const extensions = () => [messages.cardExtension];
    const mailbox = openMailbox({ ...service, agents, signatures, extensions });
    endings.add((drainMs) => mailbox.stop({ drainMs }));
    const operations = await loadOperations(config.workflows?.operations ?? []);
    const own = operations.catalog.own;
    const tools = () => engine.tools;
    const finding = await openKnowledge({
      config,
      store,
      clock,
      log,
      gate,
      credentials: vault,
      operations: own,
      tools,
    });
    endings.add(() => finding.knowledge[Symbol.asyncDispose]());
    const workflows = await openWorkflowService({ ...service, vault, apis: finding.apis, operations });
    endings.add((drainMs) => workflows.stop(drainMs));
    const wire = await openWire({
      ...service,
      agents,
      workflows: workflows.workflows,
      stored: workflows.stored,
      keyCheck,
      registry: () => messages.registry,
      intake,
      howToAccept: options.howToAccept,
      reader,
    });
    endings.add((drainMs) => wire.stop({ drainMs }));
    const messages = await openMessages({ ...service, agents, signatures, strangers, reader, intake });
    endings.add((drainMs) => messages.stop({ drainMs }));
    const limits = config.limits ?? {};
    const context = { engine, store, clock, ids, log, limits, reader };
    const meter = new RequestMeter();
    const measured = { engine, store, edge: () => edge.load };
    const routes: Route[] = [
      healthRoute(VERSION),
      metricsRoute(async () => [...meter.metrics(), ...(await serverMetrics(measured))]),
      ...e2aRoutes(context),
      ...adminAgentRoutes({
        engine,
        openAgent: (definition) => opened(open, place, definition),
        configured: {
          has: (id) => Object.hasOwn(agents.configured, id),
          putBack: (id) => putBack(id, { agents, addAgent, log }),
        },
        callbackSecrets: mailbox.keys,
        registrations: messages.registry,
      }),
      ...adminCredentialRoutes(vault),
      ...mailbox.routes,
      ...finding.routes,
      ...workflows.routes,
      ...wireRoutes({
        host: wire.host,
        clock,
        ids,
        rates: intake.rates,
        maxMessageBytes: config.wire?.max_message_bytes,
      }),
      ...adminToolRoutes(wire),
      ...adminDataRoutes({ engine, store, workflows: workflows.workflows, log }),
      ...adminRequestRoutes({
        store,
        principalNamed: (id) => engine.principalNamed(id),
        operations: own,
        audited: (id) => wire.audited(id),
      }),
      ...messages.routes,
    ];
    routes.push(openApiRoute(routes, VERSION));
    const host = config.host ?? '127.0.0.1';
    const started = new Started();
    const doors = {
      clock,
      ids,
      log,
      origins: config.allowed_origins ?? [],
      proxies: config.trusted_proxies ?? [],
      authenticate: (key: string, address: string) => started.once(() => keyCheck.check(key, address)),
      count: (call: CountedCall) => count(engine, call),
      observe: (seen: SeenRequest) => meter.observe(seen),
      ...edgeLimits(limits),
      intake,
      jsonLimits: jsonLimits(limits),
      unread: new UnreadBudget({ maxBytes: unreadBytes(limits), clock, log }),
      reader,
    };
    const hostsOf = (own: string) => [own, 'localhost', '127.0.0.1', '::1', ...(config.allowed_hosts ?? [])];
    const { admin } = config;
    const adminHost = admin?.host ?? '127.0.0.1';
    const held = routes.map((route) => started.holding(route));
    const edge: HttpEdge = new HttpEdge({
      ...doors,
      routes: admin === undefined ? held : held.filter(({ access }) => access !== 'admin'),
      sockets: [
        e2aSocketRoute(context),
        agentSocketRoute(hub, agents),
        wireSocketRoute({ host: wire.host, maxMessageBytes: config.wire?.max_message_bytes }),
        messages.socket,
      ],
      hosts: hostsOf(host),
    });
    // Whoever may reach it may ask how the server is, and nothing of an agent's.
    const adminRoutes = [healthRoute(VERSION), ...held.filter(({ access }) => access === 'admin')];
    const adminEdge =
      admin === undefined
        ? undefined
        : new HttpEdge({ ...doors, intake: adminIntake, routes: adminRoutes, hosts: hostsOf(adminHost) });
    engine.keys.onRevoked((keyId) => {
      for (const one of [edge, adminEdge]) one?.disconnect((principal) => principal.keyId === keyId);
    });
    endings.add(async (drainMs) => {
      const closed = Promise.all([edge.close({ drainMs }), adminEdge?.close({ drainMs })]);
      // Agents that dialled in are listened to as long as anything runs.
      await wire.stop({ drainMs });
      await Promise.all([engine.stop({ drainMs }), workflows.stop(drainMs)]).finally(() => hub.close());
      await closed;
    });
    const isOpen = options.isEmbedded !== true;
    const url = isOpen ? await edge.listen({ host, port: config.port ?? 7420 }) : '';
    const adminUrl =
      isOpen && admin !== undefined ? await adminEdge?.listen({ host: adminHost, port: admin.port }) : url;
    if (isOpen && !isLoopback(host)) {
      logReachable(routes, {
        log,
        host,
        agents: anonymousAgents(config.mailbox ?? {}).filter((id) => agents.has(id)),
      });
    }
    if (isOpen) await wire.listen(config);
    if (isOpen) await messages.listen(url);
    // Not before the port is ours: what an earlier process left would be started only to be ended.
    await engine.start();
    await mailbox.start();
    await workflows.start();
    await messages.start();
    await provideAdminKey(engine.keys, options);
    started.now();
    // What can change while it runs. One more is a line here.
    const reloading = new Reloading(
      config,
      [
        reloadableGate(gate),
        reloadableLimits(engine.limiter),
        reloadableAgents({ agents, engine, open, place }),
        reloadableDefault(engine),
        reloadableApis(finding.apis),
        ...workflows.reloadables,
        ...wire.reloadables,
      ],
      clock,
    );
    return new Server({ engine, wire, messages, url, adminUrl: adminUrl ?? url, endings, reloading });
  } catch (error) {
    await endings.end(0).catch((fault) => log.warn({ error: String(fault) }, 'a part did not end well'));
    throw error;
  }
}

function openStore({ config, folder, log, acceptLoss = false, onFatal = () => {} }: ServerOptions): Promise<Store> {
  return config.store === 'memory' ? openMemoryStore() : openSqliteStore({ folder, log, acceptLoss, onFatal });
}

/** The agent of a definition, ready to be put in place, or why it cannot be reached. */
async function opened(open: OpenAgent, place: PlaceAgent, definition: AgentDefinition): Promise<Opened | Failure> {
  const driver = definition as DriverDefinition;
  try {
    const agent = await open(definition.agent_id, driver);
    return { place: () => place(agent, driver), close: () => agent[Symbol.asyncDispose]() };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return failure('invalid_message', { issues: [{ pointer: '/driver', code: 'driver', message }] }, message);
  }
}

/** What was to be removed is; where the one of the configuration cannot be opened any more, the next start will say so. */
async function putBack(
  id: string,
  { agents, addAgent, log }: { agents: AnsweringAgents; addAgent: AddAgent; log: Log },
): Promise<void> {
  const definition = agents.configured[id];
  if (definition === undefined) return;
  await addAgent(id, definition).catch((error) =>
    log.error({ agent: id, error: String(error) }, 'an agent of the configuration could not be put back'),
  );
}

/** Within what is reserved of the open files. */
const ADMIN_CONNECTIONS = 32;

const UNOPENED = 'an agent of the administration cannot be opened: mend it and start again, or make or remove it there';

type OpenAgent = (id: string, definition: DriverDefinition) => Promise<Agent>;
type PlaceAgent = (agent: Agent, definition: DriverDefinition) => void;
type AddAgent = (id: string, definition: DriverDefinition) => Promise<void>;

function count(engine: Engine, { principal }: CountedCall): Counted {
  if (principal === undefined) return { limits: [] };
  const { states, refused } = countRequest(engine.limiter, principal);
  return { limits: tightestFirst(states), ...(refused !== undefined && { failure: refused }) };
}
