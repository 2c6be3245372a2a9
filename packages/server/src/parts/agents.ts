import {
  type Agent,
  type AgentBody,
  type AgentPush,
  type AgentSocketHub,
  childrenFolder,
  type DriverDefinition,
  endOrphans,
  failureOf,
  openAgent,
  Pins,
  peerPlace,
  readPeerCard,
  unopenedAgent,
} from '@dragoman/core';
import { type Failure, failure } from '@dragoman/protocols';
import { reloadableAgents } from '../reload/reloadable-agents.ts';
import { reloadableDefault } from '../reload/reloadable-parts.ts';
import type { Opened } from '../routes/admin-agents.ts';
import { adminCardRoutes } from '../routes/admin-cards.ts';
import { VERSION } from '../version.ts';
import type { ServerPart } from './part.ts';
import type { Service } from './service.ts';

export interface AgentsPart extends ServerPart {
  /** Opens the agent of a definition without putting it in place; a failure if it cannot be opened. */
  open(definition: AgentBody): Promise<Opened | Failure>;
  /** Takes over the changes of other nodes. `false` if some of them must be read again. */
  reload(): Promise<boolean>;
  /** The agents of the configuration. */
  readonly configured: { has(id: string): boolean; putBack(id: string): Promise<void> };
}

/** Opens the agents of the configuration, then those of the administration. */
export async function openAgentsPart(service: Service & { readonly hub: AgentSocketHub }): Promise<AgentsPart> {
  const { folder, engine, agents, hub, gate, references, reader, store, clock, ids, log } = service;
  const pins = new Pins({ store: store.pins, clock });
  endOrphans({ folder: childrenFolder(folder), log });
  const onPush = (push: AgentPush) => engine.pushes.deliver(push);
  const context = {
    clock,
    ids,
    log,
    folder,
    hub,
    gate,
    references,
    onPush,
    reader,
    pins,
    sessions: store.sessions,
    version: VERSION,
  };
  const open = (id: string, definition: DriverDefinition) => openAgent(id, definition, context);
  const place = (agent: Agent, { max_parallel = 8, idempotent = false }: DriverDefinition) =>
    engine.addAgent(agent, { maxParallel: max_parallel, isIdempotent: idempotent });
  const add = async (id: string, definition: DriverDefinition) => place(await open(id, definition), definition);

  await Promise.all(Object.entries(agents.configured).map(([id, definition]) => add(id, definition)));
  await engine.callers.load();
  /**
   * Opens an agent, or a stand-in that reports the error: an operator needs a running server to fix or remove the
   * agent.
   */
  const openOrStandIn = (id: string, definition: DriverDefinition) =>
    open(id, definition).catch((error) => {
      log.error({ agent: id, error: String(error) }, UNOPENED);
      return unopenedAgent(id);
    });
  for (const { agent_id: id, driver, ...definition } of engine.callers.list()) {
    if (driver !== undefined) place(await openOrStandIn(id, { driver, ...definition }), { driver, ...definition });
  }
  const putBack = async (id: string) => {
    const definition = agents.configured[id];
    if (definition === undefined) return;
    // If the agent of the configuration cannot be opened, the other one is removed all the same; the next start reports
    // the error again.
    await add(id, definition).catch((error) =>
      log.error({ agent: id, error: String(error) }, 'an agent of the configuration could not be restored'),
    );
  };
  /** Puts in place what administration on another node has made of an agent. */
  const follow = async (id: string, before: AgentBody | undefined) => {
    const body = engine.callers.find(id);
    const isStill = () => engine.callers.find(id) === body;
    if (body?.driver === undefined) {
      if (before?.driver === undefined) return;
      await engine.router.remove(id);
      if (isStill()) await putBack(id);
      return;
    }
    const { agent_id: _, driver, ...definition } = body;
    const agent = await openOrStandIn(id, { driver, ...definition });
    // Meanwhile, the administration on this node may have changed the agent again.
    if (isStill()) place(agent, { driver, ...definition });
    else await agent[Symbol.asyncDispose]();
  };
  const followAll = async () => {
    const changed = new Map<string, AgentBody | undefined>();
    const isWhole = await engine.callers.load((id, before) => changed.set(id, before));
    for (const [id, before] of changed) await follow(id, before);
    return isWhole;
  };
  const readCard = async (definition: AgentBody) => {
    const id = definition.agent_id;
    try {
      const driver = definition as DriverDefinition;
      return await readPeerCard(id, peerPlace(id, driver, service), { clock, log, gate, reader });
    } catch (error) {
      const refused = failureOf(error);
      // `unreachable` would mean this server.
      if (refused?.code === 'unreachable')
        return failure('agent_failed', {}, `The card cannot be read: ${refused.message}`);
      return refused ?? unopenable(error);
    }
  };
  return {
    routes: adminCardRoutes({ pins, readCard }),
    open: async (definition) => {
      const driver = definition as DriverDefinition;
      try {
        const agent = await open(definition.agent_id, driver);
        return { place: () => place(agent, driver), close: () => agent[Symbol.asyncDispose]() };
      } catch (error) {
        return unopenable(error);
      }
    },
    configured: {
      has: (id) => Object.hasOwn(agents.configured, id),
      putBack,
    },
    reload: followAll,
    families: { agents: followAll, pins: () => pins.reload() },
    reloadables: [reloadableAgents({ agents, engine, open, place }), reloadableDefault(engine)],
  };
}

function unopenable(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  return failure('invalid_message', { issues: [{ pointer: '/driver', code: 'driver', message }] }, message);
}

const UNOPENED =
  'an agent of the administration cannot be opened: fix it and start again, or replace or remove it through the administration';
