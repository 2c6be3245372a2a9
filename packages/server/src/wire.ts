import { join } from 'node:path';
import {
  type AgentRegistry,
  AgentTools,
  type AuditEntry,
  agentsTarget,
  chainsPlugin,
  childrenFolder,
  FixedTools,
  type JsonReader,
  lexicalSearch,
  loadPlugins,
  McpServers,
  Memories,
  mcpPlugin,
  memoryPlugin,
  openTools,
  type Principal,
  SessionToolkits,
  type SkilledAgent,
  Skills,
  type StoredWorkflows,
  skillsPlugin,
  ToolRegistry,
  toolsPlugin,
  toolsTarget,
  WireHost,
  type WirePlugin,
  type Workflows,
  WorkflowTools,
} from '@dragoman/core';
import type { AnsweringAgents } from './answering-agents.ts';
import { AuditFile } from './audit-file.ts';
import type { Config } from './config-schema.ts';
import { identifyMs, jsonLimits, lineLimits } from './door-limits.ts';
import { addressGroup } from './edges/address.ts';
import type { Intake } from './edges/intake.ts';
import { NdjsonSocketEdge } from './edges/ndjson-socket.ts';
import type { KeyCheck } from './key-check.ts';
import { pluginStates } from './plugin-states.ts';
import { isFailure } from './problem.ts';
import type { Reloadable } from './reload.ts';
import { reloadableServers, reloadableTools } from './reloadable-parts.ts';
import type { ServiceOptions } from './service-options.ts';
import { VERSION } from './version.ts';

export interface WireOptions extends ServiceOptions {
  readonly agents: AnsweringAgents;
  readonly workflows: Workflows;
  readonly stored: StoredWorkflows;
  readonly keyCheck: KeyCheck;
  /** The agents that registered, which there are when the first one connects. */
  readonly registry: () => Pick<AgentRegistry, 'discover'>;
  readonly intake: Intake;
  readonly howToAccept: ((tool: string) => string) | undefined;
  readonly reader: JsonReader;
}

/** The tools of a server and the A2E wire host in front of them. */
export class Wire {
  readonly tools: ToolRegistry;
  readonly servers: McpServers;
  readonly host: WireHost;
  /** Where agents connect over TCP; `undefined` when no port is opened. */
  url: string | undefined;
  /** The path of the unix socket; `undefined` when there is none. */
  socket: string | undefined;
  /** What of it can change while it runs. */
  readonly reloadables: readonly Reloadable[];
  readonly #edge: NdjsonSocketEdge;
  readonly #audit: AuditFile | undefined;
  #stopped: Promise<void> | undefined;

  constructor({ tools, servers, host, edge, audit, reloadables }: WireParts) {
    this.#audit = audit;
    this.reloadables = reloadables;
    this.tools = tools;
    this.servers = servers;
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

  /** The lines about a request, where lines are kept: one of each agent that used its id, the newest first. */
  async audited(requestId: string): Promise<readonly AuditEntry[]> {
    return (await this.#audit?.named(requestId)) ?? [];
  }

  stop({ drainMs }: { readonly drainMs: number }): Promise<void> {
    this.#stopped ??= this.#stop(drainMs);
    return this.#stopped;
  }

  async #stop(drainMs: number): Promise<void> {
    const closed = this.#edge.close();
    await this.host.stop({ drainMs });
    await this.#edge[Symbol.asyncDispose]();
    await closed;
    await this.#audit?.[Symbol.asyncDispose]();
  }
}

interface WireParts {
  readonly tools: ToolRegistry;
  readonly servers: McpServers;
  readonly host: WireHost;
  readonly edge: NdjsonSocketEdge;
  readonly audit: AuditFile | undefined;
  readonly reloadables: readonly Reloadable[];
}

export async function openWire(options: WireOptions): Promise<Wire> {
  const { config, engine, agents, store, folder, clock, ids, log, gate } = options;
  const tools = new ToolRegistry({ clock, log });
  const fixed = new FixedTools(await openTools(config.tools ?? [], options));
  tools.add(fixed);
  const everyAgent = () => skilledAgents(agents, options.registry());
  tools.add(new AgentTools({ engine, ids, agents: everyAgent }));
  tools.add(new WorkflowTools({ engine, ids, stored: options.stored }));
  engine.addAgent(toolsTarget('tools'), { maxParallel: 64 });
  engine.addAgent(agentsTarget(everyAgent), { maxParallel: Number.POSITIVE_INFINITY });
  const toolkits = new SessionToolkits();
  const servers = new McpServers({
    configs: config.mcp_servers ?? {},
    clock,
    log,
    folder: childrenFolder(folder),
    pins: store.pins,
    gate,
    version: VERSION,
    howToAccept: options.howToAccept,
  });
  tools.add(servers);
  const skills = new Skills({ engine, ids, agents: (skill) => skilledAgents(agents, options.registry(), skill) });
  const memories = new Memories({ store: store.memories, search: lexicalSearch, clock });
  // Whoever runs the process sets its limits, and needs none against themselves.
  const count = (principal: Principal) => {
    if (principal.role !== 'admin') engine.limiter.request(principal);
  };
  // Every capability of the host. A new one is a file in core and a line here.
  const plugins: WirePlugin[] = [
    toolsPlugin({ tools, toolkits, clock }),
    chainsPlugin({ tools, skills, toolkits, clock, ids, count }),
    mcpPlugin({ servers, toolkits }),
    memoryPlugin({ memories, clock, log }),
    skillsPlugin({ skills, clock }),
    ...(await Promise.all((config.wire?.plugins ?? []).map(loadPlugins))).flat(),
  ];
  const isLasting = config.store !== 'memory';
  const audit = isLasting ? new AuditFile({ path: join(folder, 'audit', 'wire.ndjson'), clock, log }) : undefined;
  const host = new WireHost({
    plugins,
    clock,
    ids,
    log,
    authenticate: (key, address) => {
      const found = options.keyCheck.check(key, address);
      return isFailure(found) ? undefined : found;
    },
    renewed: (principal) => engine.callers.renewed(principal),
    groupOf: addressGroup,
    count,
    limits: limitsOf(config),
    jsonLimits: jsonLimits(config.limits ?? {}),
    reader: options.reader,
    ...(audit !== undefined && { audit: (entry) => audit.write(entry) }),
    ...(isLasting && { states: pluginStates(join(folder, 'plugins'), log) }),
  });
  await host.start();
  engine.tools = tools;
  engine.keys.onRevoked((keyId) => host.disconnect((principal) => principal.keyId === keyId));
  const maxLineBytes = config.wire?.max_message_bytes;
  const limits = { ...lineLimits(config.limits ?? {}), ...(maxLineBytes !== undefined && { maxLineBytes }) };
  const edge = new NdjsonSocketEdge({ host, clock, log, limits, intake: options.intake });
  const reloadables = [reloadableTools(fixed, config.tools, options), reloadableServers(servers)];
  return new Wire({ tools, servers, host, edge, audit, reloadables });
}

/** Those with a driver first, then those that registered and are healthy. */
function skilledAgents(
  agents: AnsweringAgents,
  registry: Pick<AgentRegistry, 'discover'>,
  skill?: string,
): SkilledAgent[] {
  const own: readonly SkilledAgent[] = agents.list();
  const ids = new Set(own.map(({ id }) => id));
  const capabilities = skill === undefined ? [] : [skill];
  const { agents: found } = registry.discover({ capabilities, status: 'healthy', limit: Number.POSITIVE_INFINITY });
  // An agent with a driver is asked by that, whatever registered under its name.
  const others = found.filter(({ agentId, owner }) => owner !== undefined && !ids.has(agentId));
  const skilled = others.map(({ agentId: id, name, card: { description }, capabilities: skills }) => {
    return { id, name, description, skills, hasMethods: true };
  });
  return [...own, ...skilled];
}

function limitsOf({ wire = {}, limits = {} }: Config) {
  const { max_parallel, max_queued, max_connections, idle_seconds, max_message_bytes } = wire;
  const { connections_per_agent } = limits;
  return {
    handshakeMs: identifyMs(limits),
    ...(max_message_bytes !== undefined && { maxMessageBytes: max_message_bytes }),
    ...(connections_per_agent !== undefined && { maxPerCaller: connections_per_agent }),
    ...(max_parallel !== undefined && { maxParallel: max_parallel }),
    ...(max_queued !== undefined && { maxQueued: max_queued }),
    ...(max_connections !== undefined && { maxConnections: max_connections }),
    ...(idle_seconds !== undefined && { idleMs: idle_seconds * 1000 }),
  };
}
