import { isObject, type JsonObject } from '@dragoman/protocols';
import { type GetPromptParams, textBlock } from '@dragoman/protocols/mcp';
import { refuse } from '../../refusals/refused.ts';
import type { ListedTool, McpCatalogue } from './catalogue.ts';
import type { McpCall } from './mcp-call.ts';
import type { Upstream, UpstreamItem } from './upstream.ts';

type Asker = Pick<McpCall, 'principal' | 'agentId' | 'signal'>;

/**
 * One prompt for each agent, one for each stored workflow with its inputs, and those of the MCP servers in the configuration. Clients
 * offer them as slash commands.
 */
export class McpPrompts {
  readonly #catalogue: McpCatalogue;
  readonly #upstream: Upstream;

  constructor(catalogue: McpCatalogue, upstream: Upstream) {
    this.#catalogue = catalogue;
    this.#upstream = upstream;
  }

  async list(asker: Asker): Promise<JsonObject[]> {
    const own = (await this.#own(asker)).map((tool) => ({
      name: tool.name,
      description: String(tool.definition['description'] ?? ''),
      arguments: argumentsOf(tool),
    }));
    const others = await this.#others(asker);
    return [...own, ...[...others].map(([name, { definition }]) => ({ ...definition, name }))];
  }

  async get({ name, arguments: args = {} }: GetPromptParams, asker: Asker): Promise<JsonObject> {
    const tool = (await this.#own(asker)).find((one) => one.name === name);
    if (tool !== undefined) return filled(tool, args);
    const found = await this.upstream(name, asker);
    return this.#upstream.prompt(found.server, String(found.definition['name']), args, asker.signal);
  }

  /** The prompt of another server. Throws `Refused` when there is none. */
  async upstream(name: string, asker: Asker): Promise<UpstreamItem> {
    const found = (await this.#others(asker)).get(name);
    if (found !== undefined) return found;
    const shown = JSON.stringify(name.slice(0, 128));
    refuse('invalid_message', {}, `Unknown prompt ${shown}: it does not exist, or this key has no permission for it.`);
  }

  /** Whether it is a prompt of this server. */
  async isOwn(name: string, asker: Asker): Promise<boolean> {
    return (await this.#own(asker)).some((one) => one.name === name);
  }

  async #own({ principal, agentId }: Asker): Promise<ListedTool[]> {
    const tools = await this.#catalogue.list(principal, agentId);
    return tools.filter(({ kind, input }) => kind === 'agent' || (kind === 'workflow' && input === undefined));
  }

  /** Prompts by their own names; where two have the same name, the server's name is added. */
  async #others(asker: Asker): Promise<ReadonlyMap<string, UpstreamItem>> {
    if (asker.agentId !== undefined) return new Map();
    const found = await this.#upstream.prompts(asker);
    const names = [
      ...(await this.#own(asker)).map(({ name }) => name),
      ...found.map(({ definition }) => definition['name']),
    ];
    return new Map(
      found.map((item) => {
        const name = String(item.definition['name']);
        const isShared = names.filter((one) => one === name).length > 1;
        return [isShared ? `${item.server.name}__${name}` : name, item];
      }),
    );
  }
}

function filled(tool: ListedTool, args: Readonly<Record<string, string>>): JsonObject {
  const { name } = tool;
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

function argumentsOf({ kind, definition }: ListedTool): JsonObject[] {
  if (kind === 'agent') return [{ name: 'prompt', description: 'The message to the agent.', required: true }];
  const { inputSchema } = definition;
  const { properties, required } = isObject(inputSchema) ? inputSchema : ({} as JsonObject);
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(isObject(properties) ? properties : {}).map(([name, schema]) => ({
    name,
    ...(isObject(schema) && typeof schema['description'] === 'string' && { description: schema['description'] }),
    required: needed.includes(name),
  }));
}
