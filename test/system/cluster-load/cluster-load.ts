import { expect } from 'vitest';
import type { Config } from '../../../packages/server/src/config/config-schema.ts';
import { allFrames } from '../call.ts';
import { expectOrdered, read } from '../caller.ts';
import type { CountingApi } from '../counting-api.ts';
import type { Receiver } from '../receiver.ts';
import { agentModule, moduleAgent } from '../system.ts';
import type { TestAuthority } from '../test-authority.ts';
import { approvals } from './approvals.ts';
import { completions } from './completions.ts';
import { type Fates, type LoadClient, LoadContext, type LoadOptions } from './load-context.ts';
import { mail } from './mail.ts';
import { mcpCalls } from './mcp-calls.ts';
import { orders } from './orders.ts';
import { prompts } from './prompts.ts';
import { questions } from './questions.ts';
import { signedMessages } from './signed-messages.ts';
import { streams } from './streams.ts';
import { tasks } from './tasks.ts';
import { toolCalls } from './tool-calls.ts';

/** The clients of the load. A new one is a file and a line here. */
const CLIENTS: readonly ((load: LoadContext) => LoadClient)[] = [
  streams,
  orders,
  mail,
  completions,
  signedMessages,
  tasks,
  toolCalls,
  mcpCalls,
  prompts,
  approvals,
  questions,
];

/**
 * Clients of all protocols, each sending one thing after the other to any node. When a node breaks off, a client turns to another one, until it
 * has the end. Everything has exactly one end, without a gap, and the same bytes at every node.
 */
export class ClusterLoad {
  /** How much has ended. */
  ended = 0;
  readonly #load: LoadContext;
  readonly #clients: readonly LoadClient[];
  #isOver = false;

  constructor(options: LoadOptions) {
    this.#load = new LoadContext(options);
    this.#clients = CLIENTS.map((client) => client(this.#load));
  }

  get fates(): Readonly<Record<string, Fates>> {
    return this.#load.fates;
  }

  /** Sends until `stop`; rejects with the first thing that is not as it must be. */
  async run(lanes: number): Promise<void> {
    const lane = async (number: number) => {
      for (let count = number; !this.#isOver; count += 1) {
        await this.#clients[count % this.#clients.length]?.send();
        this.ended += 1;
      }
    };
    await Promise.all(Array.from({ length: lanes }, (_, number) => lane(number)));
  }

  stop(): void {
    this.#isOver = true;
  }

  /** Every node has every request to its one end, and the same bytes of it as every other. */
  async check(): Promise<void> {
    for (const client of this.#clients) await client.check?.();
    const { cluster, ended } = this.#load;
    for (const [requestId, seen] of ended) {
      const answers = await Promise.all(
        cluster.nodes.map((node) => cluster.resume(node, requestId, -1).then(allFrames)),
      );
      const [frames = []] = answers;
      expectOrdered(frames.map(read), requestId);
      for (const other of answers) expect(other, requestId).toEqual(seen ?? frames);
    }
    for (const [client, fates] of Object.entries(this.fates)) expect(fates.complete, client).toBeGreaterThan(0);
  }
}

/** The agents, tools and receivers of the clients. */
export function loadConfig({ api, receiver, authority }: LoadSurroundings): Config {
  const parallel = { driver: 'module', max_parallel: 32 } as const;
  return {
    default_agent: 'echo',
    agents: {
      echo: moduleAgent('echo'),
      load: { ...parallel, module: agentModule('load') },
      paced: { ...parallel, module: agentModule('paced') },
      asker: moduleAgent('asker'),
    },
    tools: [agentModule('ordering-tool')],
    wire: { port: 0 },
    apis: { orders: { base_url: api.url } },
    mailbox: { requests_per_minute: 1_000_000, callbacks: { timeout_ms: 2000, backoff_ms: 60 } },
    gate: { allow: [api.host], callbacks: [receiver.hostPort], ca: [authority.path] },
  };
}

interface LoadSurroundings {
  readonly api: CountingApi;
  readonly receiver: Receiver;
  readonly authority: TestAuthority;
}
