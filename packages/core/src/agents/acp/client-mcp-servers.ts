import { type E2AEnvelope, type Failure, isObject, type Json, type JsonObject, REDACTED } from '@dragoman/protocols';
import type { Principal } from '../../call/principal.ts';

/** The kinds of MCP server beside programs that an agent accepts, as it declared in initialize. */
export interface McpCapabilities {
  readonly http?: boolean;
  readonly sse?: boolean;
}

export interface ClientMcpServers {
  /** The servers for the agent, in the shape of ACP. */
  readonly servers: JsonObject[];
  /** The rejected servers by name, with the reason. */
  readonly leftOut: readonly string[];
}

/**
 * The MCP servers that a client names for its session. The agent starts and calls them on its own host, so the caller needs the
 * permission by name; `*` is not enough, because callers that run workflows have it.
 */
export function clientMcpServers(
  { channel_context: { mcp_servers: given } }: E2AEnvelope,
  rules: McpServerRules,
): ClientMcpServers {
  const servers: JsonObject[] = [];
  const leftOut: string[] = [];
  for (const server of Array.isArray(given) ? given.filter(isObject).slice(0, MOST_SERVERS) : []) {
    const reason = refusalOf(server, rules);
    if (reason === undefined) servers.push(server);
    else leftOut.push(`${String(server['name'])}: ${reason.replace(/\.$/, '')}`);
  }
  return { servers, leftOut };
}

function refusalOf(server: JsonObject, { principal, can, judge }: McpServerRules): string | undefined {
  const { type = 'stdio', url } = server;
  if (principal.kind !== 'admin' && !principal.permissions.operations.includes(MCP_OPERATION)) {
    return `the caller needs "${MCP_OPERATION}" in permissions.operations`;
  }
  if (hasLostSecrets(server)) return 'its secrets are not kept over a restart of the server; open the session again';
  if (type === 'stdio') return undefined;
  if (can[type as keyof McpCapabilities] !== true) return `the agent does not take servers of type ${String(type)}`;
  return judge(String(url))?.message;
}

export interface McpServerRules {
  readonly principal: Principal;
  readonly can: McpCapabilities;
  /** The gate's reason to block a URL. */
  readonly judge: (url: string) => Failure | undefined;
}

function hasLostSecrets({ env, headers }: JsonObject): boolean {
  const values = [env, headers].flatMap((list: Json | undefined) => (Array.isArray(list) ? list.filter(isObject) : []));
  return values.some(({ value }) => value === REDACTED);
}

const MCP_OPERATION = 'mcp.spawn';
const MOST_SERVERS = 32;
