import type { Stamp } from '@dragoman/protocols';
import {
  type AgentAnnouncementMessage,
  type AgentInfo,
  DISCOVERY_DEFAULTS,
  type DiscoverAgentsMessage,
  messageIdFrom,
  REGISTRY,
} from '@dragoman/protocols/a2a-messages';
import { type AgentRegistry, lastHeartbeatOf, type RegisteredAgent } from '../agent-registry/agent-registry.ts';

/** The agents that match a query. `elapsed` returns milliseconds, to measure the query. */
export function announcement(
  query: DiscoverAgentsMessage,
  registry: AgentRegistry,
  { stamp, elapsed }: { stamp: Stamp; elapsed: () => number },
): AgentAnnouncementMessage {
  const from = elapsed();
  const { capabilities = [], filters = {} } = query.payload;
  const { status = DISCOVERY_DEFAULTS.status, max_results: limit = DISCOVERY_DEFAULTS.max_results } = filters;
  const { agents, total } = registry.discover({ capabilities, status, limit });
  return {
    message_id: messageIdFrom(stamp.id),
    message_type: 'agent_announcement',
    sender_id: REGISTRY,
    recipient_id: query.sender_id,
    timestamp: stamp.now.toISOString(),
    payload: {
      agents: agents.map((agent) => infoOf(agent, stamp.now)),
      total_count: total,
      query_time_ms: Math.max(0, Math.round((elapsed() - from) * 1000) / 1000),
    },
    correlation_id: query.message_id,
  };
}

function infoOf(agent: RegisteredAgent, now: Date): AgentInfo {
  const { agentId, name, capabilities, isHealthy, endpoint } = agent;
  return {
    agent_id: agentId,
    name,
    capabilities: [...capabilities],
    status: isHealthy ? 'healthy' : 'unhealthy',
    endpoint,
    last_heartbeat: lastHeartbeatOf(agent, now).toISOString(),
  };
}
