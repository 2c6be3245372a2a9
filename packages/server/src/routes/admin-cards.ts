import { AgentBody, agentOfPin, decodeAgentDefinition, type PeerCard, type Pins, unreadable } from '@dragoman/core';
import { type Failure, failure, type JsonObject } from '@dragoman/protocols';
import { isFailure } from '../http/problem.ts';
import type { Answer, InboundRequest, Route } from '../http/route.ts';
import { changeJson } from './pin-change.ts';

export interface CardsContext {
  readonly pins: Pick<Pins, 'held' | 'accept' | 'change'>;
  /** Reads the card of the foreign agent that a definition names. */
  readonly readCard: (definition: AgentBody) => Promise<PeerCard | Failure>;
}

/** Administration of the cards of foreign agents: one card, and the changed cards that wait to be accepted. */
export function adminCardRoutes({ pins, readCard }: CardsContext): Route[] {
  const heldOf = (agentId: string) => pins.held().filter((name) => agentOfPin(name) === agentId);
  return [
    {
      method: 'GET',
      path: '/admin/v1/agent-cards',
      access: 'admin',
      counts: false,
      summary: 'List foreign agents with a changed card that is not accepted yet, with the old and the new card.',
      handle: async () => {
        const held = pins.held().flatMap((name) => {
          const agentId = agentOfPin(name);
          return agentId === undefined ? [] : [{ name, agentId }];
        });
        const changes: JsonObject[] = [];
        for (const { name, agentId } of held) {
          const change = await pins.change(name);
          if (change !== undefined) changes.push({ agent_id: agentId, ...changeJson(change) });
        }
        return { status: 200, json: { held: [...new Set(held.map(({ agentId }) => agentId))], changes } };
      },
    },
    {
      method: 'POST',
      path: '/admin/v1/agent-cards/preview',
      access: 'admin',
      counts: false,
      summary: 'Preview the card of a foreign A2A agent, before adding the agent with the same body.',
      body: { contentTypes: ['application/json'], maxBytes: 64 * 1024, schema: AgentBody },
      handle: (request) => preview(request, readCard),
    },
    {
      method: 'POST',
      path: '/admin/v1/agents/:agent_id/accept',
      access: 'admin',
      counts: false,
      summary: 'Accept the changed card of a foreign agent.',
      handle: async ({ params: { agent_id = '' } }) => {
        const held = heldOf(agent_id);
        for (const name of held) await pins.accept(name);
        if (held.length > 0) return { status: 200, json: { agent_id, accepted: true } };
        return failure('not_found', {}, 'No changed card of this agent waits for approval.');
      },
    },
  ];
}

async function preview(request: InboundRequest, readCard: CardsContext['readCard']): Promise<Answer | Failure> {
  const json = await request.readJson();
  if (!json.ok) return unreadable(json.issues);
  const outcome = decodeAgentDefinition(json.value);
  if (!outcome.ok) return failure('invalid_message', { issues: outcome.issues });
  const card = await readCard(outcome.value);
  return isFailure(card) ? card : { status: 200, json: cardJson(card) };
}

function cardJson({
  name,
  description,
  version,
  interfaces,
  otherInterfaces,
  streaming,
  skills,
  schemes,
}: PeerCard): JsonObject {
  return {
    name,
    description,
    version,
    interfaces: interfaces.map(({ url, binding, version: a2aVersion }) => ({ url, binding, version: a2aVersion })),
    unusable_interfaces: [...otherInterfaces],
    streaming,
    skills: skills.map((skill) => ({ ...skill })),
    auth: schemes.map(({ name: scheme, kind }) => ({ name: scheme, kind })),
  };
}
