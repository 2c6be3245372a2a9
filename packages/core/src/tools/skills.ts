import { type JsonObject, nearest } from '@dragoman/protocols';
import type { SkillDefinition } from '@dragoman/protocols/a2e-wire';
import { allows, type Principal } from '../call/principal.ts';
import type { Ids } from '../ports/ports.ts';
import { failureOf } from '../refusals/refused.ts';
import type { Hub } from '../runs/hub.ts';
import { question, toolResultOf } from './agent-tool.ts';
import { RunningTool } from './running-tool.ts';
import type { ToolOutcome } from './tool.ts';
import type { ToolRequest } from './tool-registry.ts';
import { WireRefused } from './wire/wire-refused.ts';

/** An agent with the skills that it declares. */
export interface SkilledAgent {
  readonly id: string;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly skills?: readonly string[] | undefined;
  /** Whether a skill is a method of the agent, as with A2A messages. Otherwise `params.skill` names it. */
  readonly hasMethods?: boolean;
}

export interface SkillsOptions {
  readonly engine: Hub;
  readonly ids: Ids;
  /** The reachable agents; with `skill`, only those that have it. */
  readonly agents: (skill?: string) => readonly SkilledAgent[];
}

/**
 * The skills of agents, called by name. If several agents have a skill, the first one is called; `agent__skill` names
 * another.
 */
export class Skills {
  readonly #options: SkillsOptions;

  constructor(options: SkillsOptions) {
    this.#options = options;
  }

  /** The skills of the agents that a caller may reach; with tags or categories, those that match one of each. */
  list(
    principal: Principal,
    { tags = [], categories = [] }: { tags?: readonly string[]; categories?: readonly string[] } = {},
  ): SkillDefinition[] {
    const found = this.#reachable(principal).map(({ name, agent }) => definitionOf(name, agent));
    // Sets, because a message may contain very many tags.
    const [wantedTags, wantedCategories] = [new Set(tags), new Set(categories)];
    return found.filter(
      (skill) =>
        (tags.length === 0 || skill.tags?.some((tag) => wantedTags.has(tag))) &&
        (categories.length === 0 || wantedCategories.has(skill.category ?? '')),
    );
  }

  /**
   * Calls a skill and returns the agent's answer. Chunks are sent as events, or returned with the answer if there is no
   * listener.
   */
  async call({
    name,
    args,
    principal,
    ending,
    onEvent,
  }: Omit<ToolRequest, 'without' | 'timeoutMs'>): Promise<SkillOutcome> {
    const skill = this.#find(name, principal);
    const { ids } = this.#options;
    const request = skill.agent.hasMethods
      ? { method: skill.name, params: args }
      : { params: { ...args, skill: skill.name } };
    const running = new RunningTool(principal, { onEvent });
    const envelope = question({ agent: skill.agent.id, ...request, call: running, ids });
    const forget = running.ending.follow(ending);
    try {
      const outcome = await toolResultOf(this.#options.engine, envelope, running);
      return { ...outcome, events: running.kept };
    } catch (error) {
      if (ending.aborted) throw ending.reason;
      if (failureOf(error) !== undefined) throw error;
      const { message, code } = error as { message: string; code?: unknown };
      throw new WireRefused('skill_error', message, typeof code === 'string' ? { e2a_code: code } : {});
    } finally {
      forget();
      running.over();
    }
  }

  #find(wanted: string, principal: Principal): Skill {
    const named = this.#reachable(principal, wanted).find(({ name }) => name === wanted);
    if (named !== undefined) return named;
    const skills = this.#reachable(principal);
    const found = skills.find(({ agent, name }) => `${agent.id}__${name}` === wanted);
    if (found !== undefined) return found;
    const close = nearest(
      wanted,
      skills.map(({ name }) => name),
    );
    const detail = close === undefined ? {} : { suggestions: [`did you mean ${close}?`] };
    throw new WireRefused('unknown_skill', `There is no skill ${JSON.stringify(wanted.slice(0, 128))}.`, detail);
  }

  #reachable({ permissions }: Principal, skill?: string): Skill[] {
    return this.#options
      .agents(skill)
      .filter(({ id }) => allows(permissions.agents, id))
      .flatMap((agent) => (agent.skills ?? []).map((name) => ({ name, agent })));
  }
}

interface SkillOutcome extends ToolOutcome {
  /** The events, if there was no listener. */
  readonly events: JsonObject[];
}

interface Skill {
  readonly name: string;
  readonly agent: SkilledAgent;
}

function definitionOf(name: string, { id, name: label, description = '' }: SkilledAgent): SkillDefinition {
  return {
    name,
    version: '',
    description,
    triggers: [],
    tools: null,
    toolkits: null,
    status: 'Published',
    input_schema: { type: 'object' },
    output_schema: {},
    instructions: null,
    file_path: null,
    llm_config: null,
    when_to_use: '',
    argument_hint: '',
    source: id,
    category: id,
    tags: [id, name],
    max_turns: null,
    timeout_seconds: null,
    icon: null,
    metadata: { agent_id: id, agent_name: label ?? id },
  };
}
