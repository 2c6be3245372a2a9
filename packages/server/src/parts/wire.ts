import { join } from 'node:path';
import {
  type AuditEntry,
  chainsPlugin,
  childrenFolder,
  durableCalls,
  envPlugin,
  HubSubagents,
  Learning,
  learnPlugin,
  lexicalSearch,
  loadEnvironments,
  loadPlugins,
  type McpServers,
  Memories,
  mcpPlugin,
  memoryPlugin,
  multiAgentPlugin,
  type Principal,
  planningPlugin,
  procPlugin,
  SessionToolkits,
  skillsPlugin,
  toolkitsPlugin,
  toolsPlugin,
  WireHost,
  type WirePlugin,
} from '@dragoman/core';
import type { CompleteConfig } from '../config/complete-config.ts';
import { jsonLimits, lineLimits } from '../config/endpoint-limits.ts';
import { addressGroup } from '../edges/address.ts';
import { NdjsonSocketEdge } from '../edges/ndjson-socket.ts';
import { isFailure } from '../http/problem.ts';
import { wireRoutes, wireSocketRoute } from '../routes/wire.ts';
import { AuditFile } from './audit-file.ts';
import type { ServerPart } from './part.ts';
import { pluginStates } from './plugin-states.ts';
import type { Service } from './service.ts';
import type { ToolsPart } from './tools.ts';

export interface WirePartOptions extends Service, Pick<ToolsPart, 'servers' | 'skills' | 'everyAgent'> {}

export interface WirePart extends ServerPart {
  readonly host: WireHost;
  readonly servers: McpServers;
  /** The TCP address for agents; `undefined` when no port is open. */
  readonly url: string | undefined;
  /** The path of the unix socket; `undefined` without one. */
  readonly socket: string | undefined;
  /**
   * The audit lines about a request: for each agent that used its id the newest line, the newest of all first. Empty
   * without an audit file.
   */
  audited(requestId: string): Promise<readonly AuditEntry[]>;
}

/** The A2E wire: a host for the server's tools, and its transports. */
export async function openWirePart(options: WirePartOptions): Promise<WirePart> {
  const {
    config,
    engine,
    tools,
    servers,
    skills,
    everyAgent,
    keyCheck,
    store,
    cluster,
    folder,
    intake,
    reader,
    unread,
  } = options;
  const { clock, ids, log } = options;
  const toolkits = new SessionToolkits();
  const memories = new Memories({ store: store.memories, search: lexicalSearch, clock });
  // The operator sets the limits, so they do not apply to the operator's own requests.
  const count = (principal: Principal) => {
    if (principal.kind !== 'admin') engine.limiter.request(principal);
  };
  const learning = new Learning({ store: store.memories, clock, ids });
  const environments = (await Promise.all(config.wire.environments.map(loadEnvironments))).flat();
  // The plugin of every capability. A new one is a file in core and a line here.
  const plugins: WirePlugin[] = [
    toolsPlugin({ tools, toolkits, clock, callDurably: durableCalls({ engine, ids, clock }) }),
    chainsPlugin({ tools, skills, toolkits, clock, ids, count }),
    mcpPlugin({ servers, toolkits }),
    memoryPlugin({ memories, clock, log }),
    skillsPlugin({ skills, clock }),
    toolkitsPlugin({ tools, toolkits }),
    planningPlugin({ store: store.memories, clock, ids }),
    multiAgentPlugin(new HubSubagents({ engine, store: store.memories, clock, ids, log, agents: everyAgent })),
    learnPlugin(learning),
    ...(config.wire.proc === undefined
      ? []
      : [
          procPlugin({
            config: config.wire.proc,
            references: options.references,
            folder: join(folder, 'proc'),
            children: childrenFolder(folder),
            clock,
            ids,
            log,
          }),
        ]),
    ...(environments.length === 0 ? [] : [envPlugin({ environments, clock, ids })]),
    ...(await Promise.all(config.wire.plugins.map(loadPlugins))).flat(),
  ];
  const isLasting = config.store !== 'memory';
  const audit = isLasting ? new AuditFile({ path: join(folder, 'audit', 'wire.ndjson'), clock, log }) : undefined;
  const host = new WireHost({
    plugins,
    clock,
    ids,
    log,
    authenticate: (key, address) => {
      const found = keyCheck.check(key, address);
      return isFailure(found) ? undefined : found;
    },
    renewed: (principal) => engine.callers.renewed(principal),
    groupOf: addressGroup,
    count,
    limits: limitsOf(config),
    jsonLimits: jsonLimits(config.limits),
    reader,
    ...(audit !== undefined && { audit: (entry) => audit.write(entry) }),
    ...(isLasting && { states: pluginStates(join(folder, 'plugins'), log) }),
  });
  await host.start();
  engine.keys.onRevoked((keyId) => host.disconnect((principal) => principal.keyId === keyId));
  const maxMessageBytes = config.wire.max_message_bytes;
  const limits = { ...lineLimits(config.limits), maxLineBytes: maxMessageBytes };
  const edge = new NdjsonSocketEdge({ host, clock, log, limits, intake, unread });
  let url: string | undefined;
  let socket: string | undefined;
  return {
    host,
    servers,
    get url() {
      return url;
    },
    get socket() {
      return socket;
    },
    audited: async (requestId) => (await audit?.named(requestId)) ?? [],
    routes: wireRoutes({ host, learning, clock, ids, rates: intake.rates, unread, maxMessageBytes, cluster }),
    sockets: [wireSocketRoute({ host, rates: intake.rates, maxMessageBytes })],
    listen: async () => {
      const { wire, host: address } = config;
      if (wire.port !== undefined) url = await edge.listenTcp({ host: address, port: wire.port });
      if (wire.socket === undefined) return;
      await edge.listenUnix(wire.socket);
      socket = wire.socket;
    },
    drain: async (drainMs) => {
      const closed = edge.close();
      await host.stop({ drainMs });
      await edge[Symbol.asyncDispose]();
      await closed;
      await audit?.[Symbol.asyncDispose]();
    },
  };
}

function limitsOf({ wire, limits }: CompleteConfig) {
  return {
    handshakeMs: limits.identify_ms,
    maxMessageBytes: wire.max_message_bytes,
    maxPerCaller: limits.connections_per_agent,
    maxParallel: wire.max_parallel,
    maxQueued: wire.max_queued,
    maxConnections: wire.max_connections,
    idleMs: wire.idle_seconds * 1000,
  };
}
