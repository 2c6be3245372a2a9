import { randomBytes } from 'node:crypto';
import { type KnowledgeBases, McpEndpoint, type McpNodes, type McpServers, type StoredWorkflows } from '@dragoman/core';
import type { Json } from '@dragoman/protocols';
import { keptAnswersMs } from '../config/kept-answers.ts';
import { mcpRoutes } from '../routes/mcp.ts';
import { VERSION } from '../version.ts';
import type { ServerPart } from './part.ts';
import type { Service } from './service.ts';

export interface McpPartOptions extends Service {
  readonly stored: StoredWorkflows;
  readonly servers: McpServers;
  readonly bases: KnowledgeBases;
}

export interface McpPart extends ServerPart {
  readonly endpoint: McpEndpoint;
}

/** Serves every agent, tool and workflow of this server over MCP. */
export async function openMcpPart(options: McpPartOptions): Promise<McpPart> {
  const { config, clock, cluster } = options;
  const endpoint = new McpEndpoint({
    ...options,
    version: VERSION,
    waitSeconds: config.mcp.wait_seconds,
    maxListedTools: config.mcp.max_listed_tools,
    keepMs: keptAnswersMs(config),
    nodes: await otherNodes(options),
  });
  cluster?.calls.serve(CANCEL, async (params) => {
    const { sessionId, callId } = params as unknown as RunningCall;
    endpoint.cancelHere(sessionId, callId);
    return null;
  });
  return {
    endpoint,
    routes: mcpRoutes({ endpoint, clock, maxBytes: config.limits.body_bytes }),
    drain: async () => endpoint.stop(),
  };
}

async function otherNodes({ cluster, vault, log }: Service): Promise<McpNodes | undefined> {
  if (cluster === undefined) return undefined;
  const key = await vault.keep('mcp-sessions.key', () => randomBytes(32).toString('base64url'));
  return {
    get node() {
      return cluster.node;
    },
    key: Buffer.from(key, 'base64url'),
    cancel: (sessionId, callId) =>
      void cluster.calls.askOthers(CANCEL, { sessionId, callId }).catch((error) => {
        log.warn({ error: String(error) }, 'a call was not cancelled at the other nodes');
      }),
  };
}

interface RunningCall {
  readonly sessionId: string;
  /** The id of the JSON-RPC request. */
  readonly callId: Json;
}

const CANCEL = 'mcp.cancel';
