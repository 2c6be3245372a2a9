import {
  type AgentRegistry,
  type Clock,
  decodeRegistration,
  lastHeartbeatOf,
  type NetworkGate,
  OVER_CONNECTION,
  type RegisteredAgent,
  Registration,
  unreadable,
} from '@dragoman/core';
import { type Failure, failure, type JsonObject, show } from '@dragoman/protocols';
import { isFailure } from '../http/problem.ts';
import type { Answer, InboundRequest, Route } from '../http/route.ts';
import { callerOf } from './inbound-fields.ts';
import { integerIn } from './integer-in.ts';
import { integerParameter, textParameter } from './route-parameters.ts';

export interface AgentRegistryContext {
  readonly registry: AgentRegistry;
  readonly clock: Clock;
  /** Judges the endpoints that agents give, since requests are relayed to them. */
  readonly gate: Pick<NetworkGate, 'judge'>;
}

/**
 * The registry of agents: registration, heartbeats, search. What agents say about themselves is not checked; `source`
 * reports its origin.
 */
export function agentRegistryRoutes(context: AgentRegistryContext): Route[] {
  const { registry, clock } = context;
  const shown = (agent: RegisteredAgent) => agentJson(agent, clock.now());
  return [
    {
      method: 'POST',
      path: '/agents/register',
      access: 'agent',
      counts: true,
      summary: 'Register an agent by its card and endpoint, or update it.',
      body: { contentTypes: ['application/json'], maxBytes: 256 * 1024, schema: Registration },
      handle: (request) => register(request, context),
    },
    {
      method: 'GET',
      path: '/agents/discover',
      access: 'agent',
      counts: true,
      summary: 'Find healthy agents by ?capability= and part of the ?name=; ?limit= (10).',
      parameters: [
        textParameter('capability', 'A capability that the agent must have.'),
        textParameter('name', 'Text to find in its name.'),
        integerParameter('limit', 'Maximum number of entries. Default: 10.'),
      ],
      handle: ({ query }) => discover(query, context),
    },
    {
      method: 'GET',
      path: '/agents',
      access: 'agent',
      counts: true,
      summary: 'List healthy agents, or all with ?include_unhealthy=true.',
      parameters: [
        textParameter('include_unhealthy', 'Whether to include agents without a heartbeat. Default: false.', [
          'true',
          'false',
        ]),
      ],
      handle: ({ query }) => {
        const status = query.get('include_unhealthy') === 'true' ? 'all' : 'healthy';
        const { agents, total } = registry.discover({ capabilities: [], status, limit: MOST_LISTED });
        return { status: 200, json: { agents: agents.map(shown), count: agents.length, total } };
      },
    },
    {
      method: 'GET',
      path: '/agents/:agent_id',
      access: 'agent',
      counts: true,
      summary: 'Read an agent.',
      handle: ({ params }) => {
        const agent = registry.find(params['agent_id'] ?? '');
        return agent === undefined ? NO_AGENT : { status: 200, json: shown(agent) };
      },
    },
    {
      method: 'PUT',
      path: '/agents/:agent_id/heartbeat',
      access: 'agent',
      owned: true,
      counts: false,
      summary: 'Send a heartbeat. After 90 seconds without one the agent is unhealthy.',
      handle: async (request) => {
        const agentId = request.params['agent_id'] ?? '';
        const at = await registry.beat(callerOf(request).id, agentId);
        if (at === undefined) return NOT_YOURS;
        return {
          status: 200,
          json: { status: 'acknowledged', agent_id: agentId, timestamp: new Date(at).toISOString() },
        };
      },
    },
    {
      method: 'DELETE',
      path: '/agents/:agent_id',
      access: 'agent',
      owned: true,
      counts: true,
      summary: 'Remove an agent from the registry.',
      handle: async (request) => {
        const agentId = request.params['agent_id'] ?? '';
        if (!(await registry.remove(callerOf(request).id, agentId))) return NOT_YOURS;
        return { status: 200, json: { status: 'unregistered', agent_id: agentId } };
      },
    },
    {
      method: 'GET',
      path: '/stats',
      access: 'agent',
      counts: true,
      summary: 'Count agents, healthy agents and capabilities.',
      handle: () => {
        const { total, healthy, capabilities } = registry.stats();
        return {
          status: 200,
          json: {
            total_agents: total,
            healthy_agents: healthy,
            unhealthy_agents: total - healthy,
            capabilities: Object.fromEntries(mostCommon(capabilities)),
          },
        };
      },
    },
  ];
}

/** The most common capabilities, sorted by name. The list is limited, because agents choose the names. */
function mostCommon(capabilities: ReadonlyMap<string, number>): [string, number][] {
  const byCount = [...capabilities].sort(([, one], [, other]) => other - one);
  return byCount.slice(0, MOST_LISTED).sort(([one], [other]) => (one < other ? -1 : 1));
}

async function register(
  request: InboundRequest,
  { registry, clock, gate }: AgentRegistryContext,
): Promise<Answer | Failure> {
  const json = await request.readJson();
  if (!json.ok) return unreadable(json.issues);
  const decoded = decodeRegistration(json.value, clock.now());
  if (!decoded.ok) return failure('invalid_message', { issues: decoded.issues });
  const { agent_card: card, endpoint } = decoded.value;
  const refused = endpoint === OVER_CONNECTION ? undefined : gate.judge(endpoint, 'callbacks');
  if (refused !== undefined) return endpointRefused(refused);
  const { agent, isNew } = await registry.register(callerOf(request).id, card, endpoint);
  return {
    status: isNew ? 201 : 200,
    json: {
      status: isNew ? 'registered' : 'updated',
      agent_id: agent.agentId,
      message: `${isNew ? 'Registered' : 'Updated'} ${agent.agentId}; send a heartbeat every 30 seconds to stay healthy.`,
      registered_at: new Date(agent.registeredAt).toISOString(),
    },
  };
}

function endpointRefused({ message, details }: Failure): Failure {
  const [suggestion] = details.suggestions ?? [];
  const issue = { pointer: '/endpoint', code: 'refused', message: `endpoint cannot be called: ${message}` };
  return failure(
    'invalid_message',
    { issues: [{ ...issue, ...(suggestion !== undefined && { suggestion }) }] },
    issue.message,
  );
}

function discover(query: URLSearchParams, { registry, clock }: AgentRegistryContext): Answer | Failure {
  const limit = integerIn(query, 'limit', { from: 1, to: 100, otherwise: 10 });
  if (isFailure(limit)) return limit;
  const capability = query.get('capability');
  const name = query.get('name');
  if (name !== null && name.length > LONGEST_NAME) {
    const message = `name must have at most ${LONGEST_NAME} characters; got ${show(name)}`;
    return failure('invalid_message', { issues: [{ pointer: '/name', code: 'too_long', message }] }, message);
  }
  const wanted = { capabilities: capability === null ? [] : [capability], status: 'healthy' as const };
  const found =
    name === null
      ? registry.discover({ ...wanted, limit: limit.value }).agents
      : named(registry.discover({ ...wanted, limit: Number.POSITIVE_INFINITY }).agents, name).slice(0, limit.value);
  return {
    status: 200,
    json: {
      agents: found.map((agent) => agentJson(agent, clock.now())),
      count: found.length,
      total_registered: registry.stats().total,
      query: { capability, name, limit: limit.value },
    },
  };
}

function named(agents: readonly RegisteredAgent[], part: string): RegisteredAgent[] {
  const wanted = part.toLowerCase();
  return agents.filter(({ name }) => name.toLowerCase().includes(wanted));
}

function agentJson(agent: RegisteredAgent, now: Date): JsonObject {
  const { card, endpoint, owner, registeredAt, isHealthy } = agent;
  return {
    agent_card: card as JsonObject,
    endpoint,
    registered_at: new Date(registeredAt).toISOString(),
    last_heartbeat: lastHeartbeatOf(agent, now).toISOString(),
    health_status: isHealthy ? 'healthy' : 'unhealthy',
    source: owner === undefined ? 'configured' : 'self_declared',
  };
}

const NO_AGENT = failure('not_found', {}, 'Agent not found.');
const NOT_YOURS = failure(
  'not_found',
  { suggestions: ['register the agent first'] },
  'You have not registered this agent.',
);
const MOST_LISTED = 1_000;
const LONGEST_NAME = 100;
