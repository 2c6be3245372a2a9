import type { Json, JsonObject } from '@dragoman/protocols';

/** A conversation that is open on a connection. */
export interface AcpSession {
  readonly id: string;
  cwd: string;
  /** The agent that answers the next prompt. */
  agent: string;
  /** The request that is being answered now. */
  running: RunningRequest | undefined;
  /** The MCP servers that the client named. */
  mcpServers: readonly Json[];
  /** The agent for which the client has been notified that its MCP servers are not used. */
  noticed: string | undefined;
}

export interface RunningRequest {
  readonly requestId: string;
  readonly cancel: () => void;
}

/** A session has one configuration option, its agent; none if `agents` is empty, as on a connection with a fixed agent. */
export function agentOption(agent: string, agents: readonly OfferedAgent[]): JsonObject[] {
  if (agents.length === 0) return [];
  const known = agents.some(({ id }) => id === agent) ? agents : [{ id: agent, name: agent }, ...agents];
  return [
    {
      id: AGENT_OPTION,
      name: 'Agent',
      category: 'model',
      type: 'select',
      currentValue: agent,
      options: known.map(({ id, name, description }) => ({
        value: id,
        name,
        ...(description !== undefined && description !== '' && { description }),
      })),
    },
  ];
}

export interface OfferedAgent {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly takes_mcp_servers?: boolean;
}

export const AGENT_OPTION = 'agent';
