import { type KnowledgeBases, McpEndpoint, type McpServers, type StoredWorkflows } from '@dragoman/core';
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
export function openMcpPart(options: McpPartOptions): McpPart {
  const { config, clock } = options;
  const endpoint = new McpEndpoint({
    ...options,
    version: VERSION,
    waitSeconds: config.mcp.wait_seconds,
    maxListedTools: config.mcp.max_listed_tools,
    keepMs: keptAnswersMs(config),
  });
  return {
    endpoint,
    routes: mcpRoutes({ endpoint, clock, maxBytes: config.limits.body_bytes }),
    drain: async () => endpoint.stop(),
  };
}
