import type { Engine, Log, Principal } from '@dragoman/core';
import { countRequest } from '../callers/count-request.ts';
import { edgeLimits, jsonLimits } from '../config/endpoint-limits.ts';
import { anonymousAgents } from '../config/mailbox-config.ts';
import { ConnectionShares } from '../edges/connection-shares.ts';
import { HttpEdge } from '../edges/http.ts';
import { tightestFirst } from '../edges/limit-state.ts';
import type { Counted, CountedCall } from '../http/count.ts';
import type { Route, SocketRoute } from '../http/route.ts';
import { RecentHour } from '../metrics/recent-hour.ts';
import { type AccessedRequest, RequestMeter } from '../metrics/request-meter.ts';
import { serverMetrics } from '../metrics/server-metrics.ts';
import { adminOverviewRoutes, readCounters } from '../routes/admin-overview.ts';
import { healthRoute } from '../routes/health.ts';
import { metricsRoute } from '../routes/metrics.ts';
import { openApiRoute } from '../routes/openapi.ts';
import { VERSION } from '../version.ts';
import type { ServerPart } from './part.ts';
import { isLoopback, logReachable } from './reachable.ts';
import type { Service } from './service.ts';
import { Started } from './started.ts';

export interface HttpPartOptions extends Service {
  /** The routes of every other part. */
  readonly routes: readonly Route[];
  readonly sockets: readonly SocketRoute[];
}

export interface HttpPart extends ServerPart {
  /** The URL that it listens on; empty if it does not listen. */
  readonly url: string;
  /** The URL of the administration: `url`, unless the administration has its own listener. */
  readonly adminUrl: string;
}

/** The HTTP port, the administration's own port if configured, and the pages for people and tools. */
export function openHttpPart(options: HttpPartOptions): HttpPart {
  const { config, engine, store, agents, keyCheck, failedLogins, reader, intake, address, sockets, clock, ids, log } =
    options;
  const { admin, limits, host } = config;
  const meter = new RequestMeter();
  const measured = { engine, store, edge: () => edge.load };
  const health = healthRoute(VERSION);
  const metrics = metricsRoute(async () => [...meter.metrics(), ...(await serverMetrics(measured))]);
  const hour = new RecentHour(clock, () => readCounters(engine, store));
  const startedAt = clock.now();
  const overview = adminOverviewRoutes({
    engine,
    meter,
    hour,
    edge: measured.edge,
    failedLogins,
    version: VERSION,
    startedAt,
  });
  const routes: Route[] = [health, metrics, ...overview, ...options.routes];
  routes.push(openApiRoute(routes, VERSION));
  const started = new Started();
  const held = routes.map((route) => started.holding(route));
  const shared = {
    clock,
    ids,
    log,
    origins: config.allowed_origins,
    proxies: config.trusted_proxies,
    authenticate: (key: string, from: string) => started.once(() => keyCheck.check(key, from)),
    count: (call: CountedCall) => count(engine, call),
    observe: (seen: AccessedRequest) => {
      meter.observe(seen);
      if (config.log.access) logAccess(log, seen);
    },
    ...edgeLimits(limits),
    intake,
    jsonLimits: jsonLimits(limits),
    unread: options.unread,
    reader,
  };
  const hostsOf = (own: string) => [own, 'localhost', '127.0.0.1', '::1', ...config.allowed_hosts];
  const edge: HttpEdge = new HttpEdge({
    ...shared,
    routes: admin === undefined ? held : held.filter(({ access }) => access !== 'admin'),
    sockets,
    hosts: hostsOf(host),
  });
  const adminEdge =
    admin === undefined
      ? undefined
      : new HttpEdge({
          ...shared,
          // Its connections are counted separately, so that the operator gets in while other peers take every place.
          intake: {
            ...intake,
            connections: new ConnectionShares({ most: ADMIN_CONNECTIONS, perAddress: ADMIN_CONNECTIONS }),
          },
          // It serves the server's health and the console's files to anyone who can reach it, but nothing that belongs
          // to an agent.
          routes: [health, ...held.filter(({ access, path }) => access === 'admin' || isConsole(path))],
          hosts: hostsOf(admin.host),
        });
  engine.keys.onRevoked((keyId) => {
    for (const one of [edge, adminEdge]) one?.disconnect((principal) => principal.keyId === keyId);
  });
  let url = '';
  let adminUrl = '';
  let closed: Promise<unknown> = Promise.resolve();
  return {
    get url() {
      return url;
    },
    get adminUrl() {
      return adminUrl;
    },
    listen: async () => {
      url = await edge.listen({ host, port: config.port });
      address.url = url;
      adminUrl = (admin && (await adminEdge?.listen(admin))) ?? url;
      if (isLoopback(host)) return;
      const reachable = anonymousAgents(config.mailbox).filter((id) => agents.has(id));
      logReachable(routes, { log, host, agents: reachable });
    },
    start: async () => {
      started.now();
      hour.start();
    },
    // Open answers finish while the other parts drain.
    drain: async (drainMs) => {
      hour.stop();
      closed = Promise.all([edge.close({ drainMs }), adminEdge?.close({ drainMs })]);
    },
    stop: async () => {
      await closed;
    },
  };
}

function logAccess(log: Log, { method, path, status, milliseconds, caller }: AccessedRequest): void {
  // A peer that disconnected before the answer has no status.
  const fields = { method, path: path.slice(0, LONGEST_PATH), status: status ?? null, ms: Math.round(milliseconds) };
  log.info({ ...fields, ...(caller !== undefined && { caller }) }, 'HTTP request');
}

function count(engine: Engine, { principal }: CountedCall): Counted | Promise<Counted> {
  if (principal === undefined) return { limits: [] };
  const leasing = engine.limiter.lease(principal);
  return leasing === undefined ? counted(engine, principal) : leasing.then(() => counted(engine, principal));
}

function counted(engine: Engine, principal: Principal): Counted {
  const { states, refused } = countRequest(engine.limiter, principal);
  return { limits: tightestFirst(states), ...(refused !== undefined && { failure: refused }) };
}

function isConsole(path: string): boolean {
  return path === '/' || path.startsWith('/console/');
}

const LONGEST_PATH = 300;
/** Within the reserved share of open files. */
const ADMIN_CONNECTIONS = 32;
