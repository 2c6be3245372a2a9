import {
  allows,
  BUILT_IN_TARGETS,
  isBuiltIn,
  jsonWebSignature,
  type Principal,
  type SigningKeys,
  type ToolRegistry,
} from '@dragoman/core';
import type { JsonObject } from '@dragoman/protocols';
import {
  type A2aVersion,
  type CardSkill,
  type LfCardSource,
  lfAgentCard,
  signedTexts,
} from '@dragoman/protocols/lf-a2a';
import type { InboundRequest } from '../http/route.ts';
import { VERSION } from '../version.ts';
import type { AnsweringAgent, AnsweringAgents } from './answering-agents.ts';

export interface A2aCardsOptions {
  readonly agents: Pick<AnsweringAgents, 'list'>;
  readonly tools: Pick<ToolRegistry, 'list'>;
  readonly keys: Pick<SigningKeys, 'jwk' | 'sign'>;
  readonly defaultAgent: () => string | undefined;
  /** Ids of agents whose card is shown without a key. */
  readonly publicCards: readonly string[];
  /** The base URL that the operator configured. */
  readonly publicUrl: string | undefined;
}

/** The cards of Linux Foundation A2A: of every agent, and of this server's own targets. */
export class A2aCards {
  readonly #options: A2aCardsOptions;

  constructor(options: A2aCardsOptions) {
    this.#options = options;
  }

  /**
   * Whether a caller may see the card of an agent; without a key, only the default agent's and those the operator
   * shows.
   */
  isVisible(agentId: string, { principal }: Pick<InboundRequest, 'principal'>): boolean {
    const { defaultAgent, publicCards } = this.#options;
    if (agentId === defaultAgent() || allows(publicCards, agentId)) return true;
    return principal !== undefined && canReach(principal, agentId);
  }

  /** The signed card of an agent; `undefined` for an unknown agent. */
  async card(agentId: string, request: InboundRequest, version: A2aVersion): Promise<JsonObject | undefined> {
    const card = await this.unsigned(agentId, request, version);
    return card && this.sign(card, request);
  }

  /**
   * The card before it is signed, so that a caller of this method can add members. `undefined` for an unknown agent.
   */
  async unsigned(
    agentId: string,
    request: InboundRequest,
    version: A2aVersion,
    otherInterfaces: readonly JsonObject[] = [],
  ): Promise<JsonObject | undefined> {
    const texts = await this.#textsOf(agentId, request.principal);
    const url = `${this.#baseUrl(request)}/lf-a2a/agents/${agentId}`;
    return texts && lfAgentCard({ ...texts, version: VERSION, url, otherInterfaces }, version);
  }

  async sign(card: JsonObject, request: InboundRequest): Promise<JsonObject> {
    const { keys } = this.#options;
    const jku = `${this.#baseUrl(request)}/.well-known/jwks.json`;
    const signatures = await Promise.all(signedTexts(card).map((text) => jsonWebSignature(text, keys, { jku })));
    return { ...card, signatures };
  }

  /** The agents whose card this caller may see. */
  async list(request: InboundRequest): Promise<JsonObject> {
    const agents = await Promise.all(
      this.#visible(request).map(async ({ id, url }) => {
        const { name, description } = (await this.#textsOf(id, undefined)) ?? { name: id, description: '' };
        return { id, name, description, url };
      }),
    );
    return { agents };
  }

  /**
   * The agents of `list` as an AI Catalog 1.0 (ai-catalog.io), without their names and descriptions: those are on the
   * cards.
   */
  catalog(request: InboundRequest): JsonObject {
    const { hostname } = new URL(this.#baseUrl(request));
    const entries = this.#visible(request).map(({ id, url }) => {
      return { identifier: `urn:air:${hostname}:agent:${id}`, type: 'application/a2a-agent-card+json', url };
    });
    return { specVersion: '1.0', entries };
  }

  #visible(request: InboundRequest): readonly { readonly id: string; readonly url: string }[] {
    const ids = [...this.#options.agents.list().map(({ id }) => id), ...BUILT_IN_TARGETS];
    const base = this.#baseUrl(request);
    return ids
      .filter((id) => this.isVisible(id, request))
      .map((id) => ({ id, url: `${base}/lf-a2a/agents/${id}/.well-known/agent-card.json` }));
  }

  #baseUrl({ baseUrl }: InboundRequest): string {
    return (this.#options.publicUrl ?? baseUrl).replace(/\/$/, '');
  }

  async #textsOf(id: string, principal: Principal | undefined): Promise<AgentTexts | undefined> {
    if (id === 'tools') return { ...textsOfTarget(id), skills: await this.#toolSkills(principal) };
    if (isBuiltIn(id)) return textsOfTarget(id);
    const agent = this.#options.agents.list().find((one) => one.id === id);
    return agent && textsOf(agent);
  }

  /** A skill for each tool that the caller may call. */
  async #toolSkills(principal: Principal | undefined): Promise<readonly CardSkill[]> {
    const tools = principal === undefined ? [] : await this.#options.tools.list(principal);
    if (tools.length === 0) return [TARGETS.tools];
    return tools.slice(0, MOST_SKILLS).map(({ name, description = '' }) => ({
      id: name,
      name,
      description: `${description} Send a data part: {"tool": ${JSON.stringify(name)}, "arguments": {…}}.`.trimStart(),
      tags: ['tool'],
    }));
  }
}

/**
 * The permission `agents` does not apply to the server's own targets: they decide by themselves what a caller may use.
 */
function canReach({ permissions }: Principal, id: string): boolean {
  return isBuiltIn(id) || allows(permissions.agents, id);
}

type AgentTexts = Pick<LfCardSource, 'name' | 'description' | 'skills'>;

/** Fills in the description and the skill that a card must have (specification §5.7). */
function textsOf({ id, name = id, description = `The agent ${id}.`, skills = [] }: AnsweringAgent): AgentTexts {
  const listed = skills.map(
    (skill): CardSkill => ({ id: skill, name: skill, description: `${name}: ${skill}`, tags: [skill] }),
  );
  return { name, description, skills: listed.length > 0 ? listed : [{ id, name, description, tags: ['chat'] }] };
}

function textsOfTarget(id: keyof typeof TARGETS): AgentTexts {
  const { name, description } = TARGETS[id];
  return { name, description, skills: [TARGETS[id]] };
}

const MOST_SKILLS = 500;

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
