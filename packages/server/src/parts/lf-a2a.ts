import { allows, BUILT_IN_TARGETS, isBuiltIn, LfA2aTasks, type Principal, PushNotifications } from '@dragoman/core';
import type { JsonObject } from '@dragoman/protocols';
import { type A2aVersion, type CardSkill, type LfCardSource, lfAgentCard } from '@dragoman/protocols/lf-a2a';
import type { AnsweringAgent } from '../agents/answering-agents.ts';
import type { InboundRequest } from '../http/route.ts';
import { lfA2aRoutes } from '../routes/lf-a2a.ts';
import { versionOf } from '../routes/lf-a2a-bindings.ts';
import { VERSION } from '../version.ts';
import type { OutboxPart } from './outbox.ts';
import type { ServerPart } from './part.ts';
import type { Service } from './service.ts';

export interface LfA2aPart extends ServerPart {
  /** The card of the default agent, for the root of the server. */
  readonly agentCard: (request: InboundRequest, others: readonly JsonObject[]) => JsonObject | undefined;
}

export interface LfA2aPartOptions extends Service {
  readonly callbacks: Pick<OutboxPart, 'outbox' | 'keys' | 'useHeaders'>;
}

/** Serves every agent of this server over Linux Foundation A2A. */
export function openLfA2aPart(service: LfA2aPartOptions): LfA2aPart {
  const { engine, store, gate, vault, clock, log, agents, config, callbacks } = service;
  const { url, public_cards: publicCards = [] } = config.lf_a2a ?? {};
  const baseFor = ({ headers }: InboundRequest) =>
    (url ?? config.mailbox?.url ?? `http://${headers.host}`).replace(/\/$/, '');
  const isPublic = (id: string) => id === engine.router.defaultAgent || allows(publicCards, id);
  const sourceOf = (id: string): AgentTexts | undefined => {
    if (isBuiltIn(id)) return { name: TARGETS[id].name, description: TARGETS[id].description, skills: [TARGETS[id]] };
    const agent = agents.list().find((one) => one.id === id);
    return agent && textsOf(agent);
  };
  const card = (id: string, request: InboundRequest, version: A2aVersion, others: readonly JsonObject[] = []) => {
    const texts = sourceOf(id);
    return (
      texts &&
      lfAgentCard(
        { ...texts, version: VERSION, url: `${baseFor(request)}/lf-a2a/agents/${id}`, otherInterfaces: others },
        version,
      )
    );
  };
  // The server's own targets decide by themselves what a caller may use.
  const canReach = ({ permissions }: Principal, id: string) => isBuiltIn(id) || allows(permissions.agents, id);
  const known = () => [...agents.list().map(({ id }) => id), ...BUILT_IN_TARGETS];
  const named = (id: string) => ({ name: sourceOf(id)?.name ?? id, description: sourceOf(id)?.description ?? '' });
  const tasks = new LfA2aTasks({ engine, store, clock, log });
  const pushes = new PushNotifications({
    tasks,
    store,
    outbox: callbacks.outbox,
    gate,
    vault,
    clock,
    log,
    mostQueued: config.mailbox.callbacks.queued_per_agent,
  });
  callbacks.useHeaders((id) => pushes.headersFor(id));
  return {
    routes: lfA2aRoutes({
      tasks,
      pushes,
      clock,
      maxBytes: config.limits?.body_bytes ?? 1 << 20,
      agentIn: (id) => id ?? engine.router.defaultAgent,
      isPublic,
      card,
      canReach,
      catalog: (request) => ({
        agents: known()
          .filter((id) => isPublic(id) || (request.principal !== undefined && canReach(request.principal, id)))
          .map((id) => ({
            id,
            ...named(id),
            url: `${baseFor(request)}/lf-a2a/agents/${id}/.well-known/agent-card.json`,
          })),
      }),
    }),
    start: () => pushes.start(),
    stop: () => pushes.stop(),
    agentCard: (request, others) => {
      const id = engine.router.defaultAgent;
      return id === undefined ? undefined : card(id, request, versionOf(request) ?? '1.0', others);
    },
  };
}

type AgentTexts = Pick<LfCardSource, 'name' | 'description' | 'skills'>;

/** A card needs a description and at least one skill (specification §5.7). */
function textsOf({ id, name = id, description = `The agent ${id}.`, skills = [] }: AnsweringAgent): AgentTexts {
  const listed = skills.map(
    (skill): CardSkill => ({ id: skill, name: skill, description: `${name}: ${skill}`, tags: [skill] }),
  );
  return { name, description, skills: listed.length > 0 ? listed : [{ id, name, description, tags: ['chat'] }] };
}

const TARGETS = {
  tools: {
    id: 'tools',
    name: 'Tools',
    description: 'Calls a tool of this server. Send a data part: {"tool": NAME, "arguments": {…}}.',
    tags: ['tools'],
  },
  workflows: {
    id: 'workflows',
    name: 'Workflows',
    description: 'Runs a workflow. Send a data part: {"name": NAME, "inputs": {…}} or {"workflow": JSONL}.',
    tags: ['workflows'],
  },
  agents: {
    id: 'agents',
    name: 'Agents',
    description: 'Lists the agents of this server. Send a data part: {} or {"describe": AGENT_ID}.',
    tags: ['agents'],
  },
} as const;
