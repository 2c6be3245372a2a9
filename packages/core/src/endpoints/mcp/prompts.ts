import { isObject, type JsonObject } from '@dragoman/protocols';
import { type GetPromptParams, textBlock } from '@dragoman/protocols/mcp';
import type { Principal } from '../../call/principal.ts';
import { refuse } from '../../refusals/refused.ts';
import type { ListedTool, McpCatalogue } from './catalogue.ts';

/** One prompt for each agent, and one for each stored workflow with its inputs. Clients offer them as slash commands. */
export class McpPrompts {
  readonly #catalogue: McpCatalogue;

  constructor(catalogue: McpCatalogue) {
    this.#catalogue = catalogue;
  }

  async list(principal: Principal, agentId: string | undefined): Promise<JsonObject[]> {
    return (await this.#all(principal, agentId)).map((tool) => ({
      name: tool.name,
      description: String(tool.definition['description'] ?? ''),
      arguments: argumentsOf(tool),
    }));
  }

  async get(
    { name, arguments: args = {} }: GetPromptParams,
    principal: Principal,
    agentId: string | undefined,
  ): Promise<JsonObject> {
    const tool = (await this.#all(principal, agentId)).find((one) => one.name === name);
    if (tool === undefined) {
      refuse(
        'invalid_message',
        {},
        `Unknown prompt ${JSON.stringify(name.slice(0, 128))}: it does not exist, or this key has no permission for it.`,
      );
    }
    for (const argument of argumentsOf(tool)) {
      if (argument['required'] !== true || Object.hasOwn(args, String(argument['name']))) continue;
      refuse('invalid_message', {}, `${name}: missing required argument "${String(argument['name'])}".`);
    }
    const { prompt = '' } = args;
    const text =
      tool.kind === 'agent'
        ? `Ask this with the tool ${name}, and report its answer:\n\n${prompt}`
        : `Call the tool ${name} with these arguments, and report its result:\n\n${JSON.stringify(args)}`;
    return {
      description: String(tool.definition['description'] ?? ''),
      messages: [{ role: 'user', content: textBlock(text) }],
    };
  }

  async #all(principal: Principal, agentId: string | undefined): Promise<ListedTool[]> {
    const tools = await this.#catalogue.list(principal, agentId);
    return tools.filter(({ kind, input }) => kind === 'agent' || (kind === 'workflow' && input === undefined));
  }
}

function argumentsOf({ kind, definition }: ListedTool): JsonObject[] {
  if (kind === 'agent') return [{ name: 'prompt', description: 'What to say to the agent.', required: true }];
  const { inputSchema } = definition;
  const { properties, required } = isObject(inputSchema) ? inputSchema : ({} as JsonObject);
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(isObject(properties) ? properties : {}).map(([name, schema]) => ({
    name,
    ...(isObject(schema) && typeof schema['description'] === 'string' && { description: schema['description'] }),
    required: needed.includes(name),
  }));
}
