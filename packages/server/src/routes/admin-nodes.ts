import type { ClusterOptions, ClusterStore, NodeRow, SharedDatabase } from '@dragoman/core';
import type { JsonObject } from '@dragoman/protocols';
import type { Route } from '../http/route.ts';

/** The servers that share a database, and the durability of the database. */
export function adminNodesRoute(cluster: ClusterStore | undefined, { ttlMs }: Pick<ClusterOptions, 'ttlMs'>): Route {
  return {
    method: 'GET',
    path: '/admin/v1/nodes',
    access: 'admin',
    counts: false,
    summary:
      'The servers that share one PostgreSQL database, the work of each, and problems to check; empty with one server.',
    handle: async () => ({
      status: 200,
      headers: { 'Cache-Control': 'no-store' },
      json: cluster === undefined ? ALONE : await nodesJson(cluster, ttlMs),
    }),
  };
}

async function nodesJson(cluster: ClusterStore, ttlMs: number): Promise<JsonObject> {
  const [nodes, database] = await Promise.all([cluster.nodes(), cluster.database()]);
  const warnings = warningsOf(nodes, database, ttlMs);
  return { nodes: nodes.map(nodeJson), database: databaseJson(database), warnings };
}

function nodeJson({ id, name, version, state, isSelf, holds, ...row }: NodeRow): JsonObject {
  return {
    node: id,
    name,
    version,
    state,
    is_self: isSelf,
    started_at: new Date(row.startedAt).toISOString(),
    beat_at: new Date(row.beatAt).toISOString(),
    silent_ms: Math.round(row.silentMs),
    clock_skew_ms: row.skewMs === null ? null : Math.round(row.skewMs),
    config_digest: row.configDigest,
    peer_url: row.peerUrl,
    holds: { ...holds },
  };
}

function databaseJson({ version, schemaVersion, synchronousCommit, synchronousStandbys, standbys }: SharedDatabase) {
  return {
    version,
    schema_version: schemaVersion,
    synchronous_commit: synchronousCommit,
    synchronous_standby_names: synchronousStandbys,
    standbys,
  };
}

/** Warnings for operators. A single server without a standby is not a fault. */
function warningsOf(
  nodes: readonly NodeRow[],
  { synchronousStandbys, standbys }: SharedDatabase,
  ttlMs: number,
): JsonObject[] {
  const live = nodes.filter(({ state }) => state === 'live');
  const warnings: JsonObject[] = [];
  const warn = (code: string, message: string, suggestion: string) => warnings.push({ code, message, suggestion });
  if (new Set(live.map(({ configDigest }) => configDigest)).size > 1) {
    const digests = live
      .map(({ name, id, configDigest }) => `${name} (${id}): ${configDigest ?? 'unknown'}`)
      .join(', ');
    warn(
      'config_differs',
      `The nodes run with different configurations: ${digests}.`,
      'Give all of them the same file.',
    );
  }
  if (new Set(live.map(({ version }) => version)).size > 1) {
    const versions = live.map(({ name, id, version }) => `${name} (${id}): ${version}`).join(', ');
    warn('version_differs', `The nodes run different versions: ${versions}.`, 'Finish the upgrade.');
  }
  for (const { name, id, skewMs, silentMs } of live) {
    if (skewMs !== null && Math.abs(skewMs) > MOST_SKEW_MS) {
      const message = `The clock of node ${name} (${id}) differs from the database's by ${Math.round(skewMs)} ms.`;
      warn('clock_skew', message, 'Start time synchronisation (NTP) on that machine.');
    }
    // Two late heartbeats, at least.
    if (silentMs > ttlMs / 2) {
      const message = `Node ${name} (${id}) has been silent for ${Math.round(silentMs / 1000)} s.`;
      warn('node_silent', message, 'Look at its log, and whether it reaches the database.');
    }
  }
  if (standbys > 0 && synchronousStandbys === '') {
    const message = 'Commits wait for no standby: a failover can lose the latest acknowledged writes.';
    warn('standby_is_asynchronous', message, "Set synchronous_standby_names, such as 'ANY 1 (*)'.");
  }
  return warnings;
}

const ALONE: JsonObject = { nodes: [], database: null, warnings: [] };
/** The freshness of signed messages is measured in minutes, so differences of a few seconds begin to matter. */
const MOST_SKEW_MS = 5000;
