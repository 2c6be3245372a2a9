import {
  AgentConnections,
  AgentRegistry,
  type Clock,
  connectionReach,
  type HostedAgent,
  httpReach,
  isBuiltIn,
  type Log,
  MessageSigner,
  Messages,
  OVER_CONNECTION,
  type RegisteredAgent,
  relayAgent,
  SenderProof,
  toolsTarget,
} from '@dragoman/core';
import { SCHEMA_BASE } from '@dragoman/protocols';
import {
  type AgentCard,
  FRESHNESS_WINDOW,
  isAgentId,
  MAX_MESSAGE_BYTES,
  PROTOCOL_VERSIONS,
  SCHEMA_VERSIONS,
} from '@dragoman/protocols/a2a-messages';
import type { AnsweringAgent, AnsweringAgents } from '../agents/answering-agents.ts';
import { jsonLimits, lineLimits } from '../config/endpoint-limits.ts';
import { MessageLines } from '../edges/message-lines.ts';
import { NdjsonSocketEdge } from '../edges/ndjson-socket.ts';
import { messageRoutes, messageSocketRoute } from '../routes/a2a-messages.ts';
import { agentRegistryRoutes } from '../routes/agent-registry.ts';
import type { CardExtension } from '../routes/discovery.ts';
import { schemaRoute } from '../routes/schema-files.ts';
import { senderInStart } from '../routes/sender-in-start.ts';
import { VERSION } from '../version.ts';
import type { ServerPart } from './part.ts';
import type { Service } from './service.ts';
import { signingKey } from './signing-key.ts';

/** The A2A messages service, the registry of agents, and the endpoints of both. */
export interface MessagesPart extends ServerPart {
  readonly registry: AgentRegistry;
  /** The messages extension of this server's card: the endpoint, and the key that signs its messages. */
  cardExtension(): CardExtension;
  /** The TCP address for messages; `undefined` when no port is open. */
  readonly url: string | undefined;
}

/** Puts the messages service together as configured. */
export async function openMessagesPart(service: Service): Promise<MessagesPart> {
  const { config, engine, agents, store, gate, signatures, proofFailures, reader, intake, address } = service;
  const { agentLines, clock, ids, log } = service;
  const { messages: settings, host } = config;
  const serverId = settings.agent_id;
  const requireSignatures = settings.require_signatures ?? !LOOPBACK.has(host);
  const key = await signingKey(service, { file: 'messages.pem', signs: 'messages' });
  const signer = new MessageSigner({ key, signatures, reader, clock, ids });
  const window = {
    ...FRESHNESS_WINDOW,
    past: settings.max_age_ms,
    future: settings.max_ahead_ms,
  };
  const published = { public_key: signer.publicKey, public_key_fingerprint: signer.fingerprint };
  // Messages and mailbox are on one port, so an outside URL that is configured for one serves the other, too.
  const outsideUrl = (settings.url ?? config.mailbox.url ?? config.public_url)?.replace(/\/$/, '');
  const endpoint = () => `${outsideUrl ?? address.url}/a2a/messages`;
  let url: string | undefined;
  const relayed = new Set<string>();
  /** The callers of the agents that are reached over their own connections, by agent id. */
  const dialling = new Map<string, string>();
  /** Such agents are alive while their caller is connected. */
  const beat = async (connected: string) => {
    for (const agentId of agentsOf(connected)) await registry.beat(connected, agentId);
  };
  const agentsOf = (callerId: string) => [...dialling].flatMap(([id, owner]) => (owner === callerId ? [id] : []));
  const connections = new AgentConnections({
    onChanged: (callerId, isConnected) => {
      for (const agentId of agentsOf(callerId)) agentLines?.changed(agentId, isConnected);
      if (!isConnected) return;
      beat(callerId).catch((error) => log.warn({ error: String(error) }, 'a heartbeat was not recorded'));
    },
  });
  const { tools_agent: toolsId } = settings;
  const registry = new AgentRegistry({
    store: store.registrations,
    clock,
    hosted: {
      agents: () => hostedAgents(agents, { toolsId, endpoint: endpoint(), published }),
      version: () => agents.version,
    },
    isTaken: (agentId, owner) =>
      agentId === serverId || (agentId !== owner && engine.callers.find(agentId) !== undefined),
    names: () => [serverId, ...engine.callers.list().map(({ agent_id }) => agent_id)],
    onChange: (agent, what) => reach(agent, what),
  });
  const reach = (agent: RegisteredAgent, what: 'put' | 'removed') => {
    const { card, endpoint, owner } = agent;
    const wasDialling = dialling.delete(agent.agentId);
    if (what === 'removed') {
      if (wasDialling) agentLines?.changed(agent.agentId, false);
      if (relayed.delete(agent.agentId)) void engine.router.remove(agent.agentId);
      return;
    }
    // A registration cannot take the place of an agent with a driver, or of a target of the server.
    if (isBuiltIn(agent.agentId)) return;
    if (engine.router.has(agent.agentId) && !relayed.has(agent.agentId)) return;
    relayed.add(agent.agentId);
    const isDialling = endpoint === OVER_CONNECTION && owner !== undefined;
    if (isDialling) dialling.set(agent.agentId, owner);
    if (isDialling && connections.isConnected(owner)) agentLines?.changed(agent.agentId, true);
    else if (wasDialling) agentLines?.changed(agent.agentId, false);
    const reached = isDialling ? connectionReach(connections, owner) : httpReach({ endpoint, gate, reader, clock });
    engine.addAgent(relayAgent({ card, reach: reached, serverId, signer, signatures, clock, ids, window }));
  };
  if (toolsId !== undefined) {
    if (toolsId !== 'tools' && (isBuiltIn(toolsId) || engine.router.has(toolsId)))
      throw new Error(`messages.tools_agent: there is an agent ${toolsId} already`);
    if (toolsId !== 'tools') engine.addAgent(toolsTarget(toolsId), { maxParallel: 64 });
  }
  const proof = new SenderProof({
    callers: engine.callers,
    nonces: store.nonces,
    signatures,
    clock,
    requireSignatures,
    mostNonces: settings.max_nonces,
    window,
  });
  const messages = new Messages({
    engine,
    registry,
    connections,
    proof,
    proofFailures,
    nonces: store.nonces,
    signer,
    reader,
    clock,
    ids,
    log,
    card: serverCard(serverId, published),
    jsonLimits: jsonLimits(config.limits),
  });
  const shared = { messages, clock, identifyMs: config.limits.identify_ms };
  const lines = new MessageLines({ ...shared, maxPerCaller: config.limits.connections_per_agent });
  const limits = { ...lineLimits(config.limits), maxLineBytes: MAX_MESSAGE_BYTES };
  const edge = new NdjsonSocketEdge({ host: lines, clock, log, limits, intake, unread: service.unread });
  const stopped = new AbortController();
  // Must happen before the engine continues earlier requests, which may be for registered agents.
  await registry.load();
  if (!requireSignatures) {
    log.debug({ messages: { require_signatures: false } }, 'A2A messages need no signature here: a key is enough');
  }
  return {
    get url() {
      return url;
    },
    cardExtension: () => ({
      uri: `${SCHEMA_BASE}/a2a-messages`,
      description: 'Signed A2A messages between agents; messages of this server are signed with this key.',
      params: { endpoint: endpoint(), agent_id: serverId, ...published },
    }),
    routes: [
      ...messageRoutes(messages, senderInStart(proof)),
      ...agentRegistryRoutes({ registry, clock, gate }),
      schemaRoute(),
    ],
    sockets: [messageSocketRoute(shared)],
    registry,
    families: { registrations: () => registry.load() },
    listen: async () => {
      if (settings.port !== undefined) url = await edge.listenTcp({ host, port: settings.port });
    },
    start: async () => {
      await proof.load();
      const work = async () => {
        await proof.purge();
        // The interval is well below the time after which agents count as silent.
        for (const callerId of connections.connected) await beat(callerId);
      };
      void keepHouse(work, { everyMs: 60_000, clock, log, signal: stopped.signal });
      if (store.families === undefined) return;
      void keepHouse(() => registry.readBeats(), { everyMs: 10_000, clock, log, signal: stopped.signal });
    },
    stop: async (drainMs) => {
      stopped.abort();
      const closed = edge.close();
      await lines.stop({ drainMs });
      await edge[Symbol.asyncDispose]();
      await closed;
    },
  };
}

/** The agents of this server as others find them, with their configured skills. */
function hostedAgents(agents: AnsweringAgents, { toolsId, endpoint, published }: Hosting): HostedAgent[] {
  const tools = { name: 'Tools', description: 'The tools of this server: the method is the tool.' };
  const own: AnsweringAgent[] = toolsId === undefined ? [] : [{ ...tools, id: toolsId }];
  return [...agents.list(), ...own]
    .filter(({ id }) => isAgentId(id))
    .map(({ id, name = id, description = '', skills = [] }) => ({
      endpoint,
      card: {
        agent_id: id,
        name,
        version: CARD_VERSION,
        description,
        capabilities: skills.length > 0 ? skills.slice(0, 50) : ['request_response'],
        supported_protocols: [...PROTOCOL_VERSIONS],
        schema_versions: [...SCHEMA_VERSIONS],
        metadata: { ...published },
      },
    }));
}

interface Hosting {
  /** The id of the agent that represents the tools; `undefined` if there is none. */
  readonly toolsId: string | undefined;
  readonly endpoint: string;
  readonly published: Record<string, string>;
}

function serverCard(serverId: string, published: Record<string, string>): AgentCard {
  return {
    agent_id: serverId,
    name: 'Dragoman',
    version: CARD_VERSION,
    description: 'Relays requests to its agents, and knows which agents there are.',
    capabilities: ['request_response', 'auth_signature'],
    supported_protocols: [...PROTOCOL_VERSIONS],
    schema_versions: [...SCHEMA_VERSIONS],
    metadata: { ...published },
  };
}

async function keepHouse(
  work: () => Promise<void>,
  { everyMs, clock, log, signal }: { everyMs: number; clock: Clock; log: Log; signal: AbortSignal },
) {
  while (!signal.aborted) {
    try {
      await clock.wait(everyMs, signal);
      await work();
    } catch (error) {
      if (!signal.aborted) log.warn({ error: String(error) }, 'housekeeping of A2A messages failed');
    }
  }
}

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost']);
/** The version on a card has three numbers and no suffix. */
const CARD_VERSION = VERSION.replace(/[-+].*$/, '');
