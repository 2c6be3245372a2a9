import { randomBytes } from 'node:crypto';
import { type PostgresServer, startPostgres } from '../../packages/core/test-support/postgres-server.ts';
import type { Config } from '../../packages/server/src/config/config-schema.ts';
import { pair } from './a2a-peer.ts';
import { call } from './call.ts';
import { System } from './system.ts';

/** Several real servers on one real PostgreSQL, in which a node is dead soon. */
export class ClusterSystem implements AsyncDisposable {
  readonly postgres: PostgresServer;
  readonly nodes: readonly System[];
  readonly ttlMs = CLUSTER.ttl_ms;
  /** A caller with all permissions. */
  readonly client = { ...pair(), agentId: 'client', api_key: '' };
  readonly #environment: Readonly<Record<string, string>>;

  private constructor(postgres: PostgresServer, nodes: readonly System[]) {
    this.postgres = postgres;
    this.nodes = nodes;
    this.#environment = {
      DRAGOMAN_VAULT_KEY: randomBytes(32).toString('hex'),
      DRAGOMAN_TEST_DRAIN_MS: '200',
      DRAGOMAN_ADMIN_KEY: nodes[0]?.adminKey ?? '',
    };
  }

  static async start(count: number, config: Config): Promise<ClusterSystem> {
    const postgres = await startPostgres({ isDurable: true });
    const shared = { store: postgres.url('dragoman'), cluster: CLUSTER, ...config };
    const nodes = Array.from({ length: count }, () => System.create({ config: shared }));
    const cluster = new ClusterSystem(postgres, nodes);
    try {
      const [first = System.create()] = nodes;
      await cluster.startNode(first);
      const permissions = { agents: ['*'], operations: ['*'], tools: ['*'], apis: ['*'] };
      const { client } = cluster;
      const made = await first.caller(client.agentId, { permissions, public_key: client.pem });
      client.api_key = made.api_key;
      for (const node of nodes.slice(1)) await cluster.startNode(node);
      return cluster;
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
  }

  get key(): string {
    return this.client.api_key;
  }

  startNode(node: System): Promise<void> {
    return node.start(this.#environment);
  }

  async post(node: System, path: string, json: unknown): Promise<{ status: number; body: Record<string, unknown> }> {
    const answer = await call(node.url, { method: 'POST', path, key: this.key, json });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  }

  /** A stream of frames as they come. */
  stream(node: System, envelope: object) {
    const accept = 'application/x-ndjson';
    return call(node.url, {
      method: 'POST',
      path: '/e2a',
      key: this.key,
      accept,
      json: { is_stream: true, ...envelope },
    });
  }

  /** The rest of an answer, wherever it is given. */
  resume(node: System, requestId: string, after: number) {
    const path = `/e2a/requests/${requestId}/responses?after=${after}`;
    return call(node.url, { path, key: this.key, accept: 'application/x-ndjson' });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const node of this.nodes) await node[Symbol.asyncDispose]();
    await this.postgres.stop();
  }
}

const CLUSTER = { ttl_ms: 3000, grace_ms: 800, beat_ms: 200 };
