import type { JsonObject, JsonSchema } from '@dragoman/protocols';
import { allows } from '../call/principal.ts';
import type { Engine } from '../engine/engine.ts';
import type { Ids } from '../ports/ports.ts';
import { question, toolResultOf } from '../tools/agent-tool.ts';
import type { Tool, ToolSource } from '../tools/tool.ts';
import { toolDefinition } from '../tools/tool-definition.ts';
import type { DescribedAgent } from './agents-target.ts';

export interface AgentToolsOptions {
  readonly engine: Engine;
  readonly ids: Ids;
  readonly agents: () => readonly DescribedAgent[];
}

/** Every agent as a tool of the toolkit `agents`. `permissions.agents` decides who may call it. */
export class AgentTools implements ToolSource {
  readonly #options: AgentToolsOptions;

  constructor(options: AgentToolsOptions) {
    this.#options = options;
  }

  tools(): Iterable<Tool> {
    return this.#options.agents().map((agent) => this.#tool(agent));
  }

  find(name: string): Tool | undefined {
    const agent = this.#options.agents().find(({ id }) => id === name);
    return agent && this.#tool(agent);
  }

  #tool({ id, description, skills = [] }: DescribedAgent): Tool {
    const { engine, ids } = this.#options;
    const request = (args: JsonObject) => ({ agent: id, ...requestIn(args) });
    return {
      definition: toolDefinition({ name: id, description, input: INPUT, tags: skills, toolkit: 'agents' }),
      answeredBy: 'agent',
      mayUse: ({ permissions }) => allows(permissions.agents, id),
      issuesOf: () => [],
      request,
      run: (args, call) => toolResultOf(engine, question({ ...request(args), call, ids }), call),
    };
  }
}

/** Arguments with a `method` are a complete request; any others are the params of `chat.send`. */
function requestIn(args: JsonObject): { readonly method?: string; readonly params: JsonObject } {
  const { method, params } = args;
  if (typeof method !== 'string') return { params: args };
  return { method, params: typeof params === 'object' && params !== null && !Array.isArray(params) ? params : {} };
}

const INPUT: JsonSchema = {
  type: 'object',
  properties: {
    content: { description: 'The message to the agent.' },
    method: { type: 'string', description: 'Call this method of the agent instead.' },
    params: { type: 'object', description: 'The parameters of the method.' },
  },
};
