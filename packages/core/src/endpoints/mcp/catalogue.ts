import type { JsonObject, JsonSchema } from '@dragoman/protocols';
import { type McpTargetKind, uniqueToolNames } from '@dragoman/protocols/mcp';
import type { Principal } from '../../call/principal.ts';
import type { HubRequest, Tool } from '../../tools/tool.ts';
import { mayUseTool, type ToolRegistry } from '../../tools/tool-registry.ts';
import { AGENT_INPUT, OWN_TOOL_NAMES, WORKFLOW_INPUT } from './own-tools.ts';

/** A tool under its MCP name, with the hub request of a call. */
export interface ListedTool {
  readonly name: string;
  readonly kind: McpTargetKind;
  /** The entry in `tools/list`. */
  readonly definition: JsonObject;
  readonly hasOutputSchema: boolean;
  /** The tool is not listed, but search finds it. */
  readonly isDeferred: boolean;
  /** The schema of the arguments, where the target does not check them. */
  readonly input?: JsonSchema;
  request(args: JsonObject): HubRequest;
}

/**
 * Agents, tools and workflows as tools of MCP: an agent is `ask_AGENT`, everything else has its own name. Names are assigned over all
 * tools, so that a tool has the same name for every caller. Permissions are checked on every list and call.
 */
export class McpCatalogue {
  readonly #tools: ToolRegistry;
  #signature = '';
  #names: readonly string[] = [];
  /** The tool of each name in the latest assignment. */
  #kinds = new Map<string, { readonly kind: McpTargetKind; readonly own: string }>();

  constructor(tools: ToolRegistry) {
    this.#tools = tools;
  }

  /** Increases with changes that a list of names does not show. */
  get version(): number {
    return this.#tools.version;
  }

  /** The tools that a caller may use, by name; with `agentId`, only that agent. */
  async list(principal: Principal, agentId?: string): Promise<ListedTool[]> {
    await this.#tools.ready();
    return this.#named()
      .filter(({ tool }) => mayUseTool(principal, tool) && isIn(agentId, tool))
      .map(({ name, tool }) => listed(name, tool))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** The ids of the agents that a caller may call. */
  async agents(principal: Principal, agentId?: string): Promise<string[]> {
    const tools = await this.list(principal, agentId);
    return tools.filter(({ kind }) => kind === 'agent').map((tool) => tool.request({}).agent);
  }

  /** `undefined` when this caller has no tool with this name. */
  async find(principal: Principal, name: string, agentId?: string): Promise<ListedTool | undefined> {
    const found = this.#find(name) ?? (await this.#tools.ready().then(() => this.#find(name)));
    return found !== undefined && mayUseTool(principal, found) && isIn(agentId, found)
      ? listed(name, found)
      : undefined;
  }

  /** Uses the names of the latest list, so that a call does not build a list of its own. */
  #find(name: string): Tool | undefined {
    const known = this.#kinds.get(name);
    const found = known && this.#tools.named(known.own).find((tool) => kindOf(tool) === known.kind);
    return found ?? this.#named().find((one) => one.name === name)?.tool;
  }

  #named(): { readonly name: string; readonly tool: Tool }[] {
    const tools = distinct(this.#tools.all());
    const wanted = tools.map(nameOf);
    const signature = wanted.join('\n');
    if (signature !== this.#signature) {
      this.#names = namesFor(tools, wanted);
      this.#kinds = new Map(
        tools.map((tool, index) => [this.#names[index] ?? '', { kind: kindOf(tool), own: tool.definition.name }]),
      );
      this.#signature = signature;
    }
    return tools.map((tool, index) => ({ name: this.#names[index] ?? '', tool }));
  }
}

/** Keeps the first of several tools of a kind with the same name. An agent and a tool may share a name. */
function distinct(tools: readonly Tool[]): Tool[] {
  const seen = new Set<string>();
  return tools.filter((tool) => {
    const key = `${kindOf(tool)} ${tool.definition.name}`;
    if (key === 'workflow workflow.plan' || seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

function namesFor(tools: readonly Tool[], wanted: readonly string[]): string[] {
  const order = wanted.map((name, index) => ({ name, index })).sort((a, b) => (a.name < b.name ? -1 : 1));
  const unique = uniqueToolNames(
    order.map(({ name }) => name),
    OWN_TOOL_NAMES,
  );
  const names = tools.map((tool) => adHocName(tool) ?? '');
  for (const [place, { index }] of order.entries()) names[index] ||= unique[place] ?? '';
  return names;
}

/** Only agents and workflows define their own hub request. */
function kindOf({ request, answeredBy }: Tool): McpTargetKind {
  if (request === undefined) return 'tool';
  return answeredBy === 'agent' ? 'agent' : 'workflow';
}

function nameOf(tool: Tool): string {
  const { name } = tool.definition;
  return kindOf(tool) === 'agent' ? `ask_${name}` : name;
}

function adHocName(tool: Tool): string | undefined {
  const { name } = tool.definition;
  return kindOf(tool) === 'workflow' && Object.hasOwn(AD_HOC, name) ? AD_HOC[name] : undefined;
}

function isIn(agentId: string | undefined, tool: Tool): boolean {
  return agentId === undefined || (kindOf(tool) === 'agent' && tool.definition.name === agentId);
}

function listed(name: string, tool: Tool): ListedTool {
  const kind = kindOf(tool);
  const { definition } = tool;
  const common = { name, kind, isDeferred: definition.defer_loading };
  if (kind === 'agent') return { ...common, ...agentTool(name, tool) };
  const isAdHoc = adHocName(tool) !== undefined;
  const inputSchema = isAdHoc ? WORKFLOW_INPUT : objectSchema(definition.input_schema ?? {});
  const outputSchema = objectOutput(definition.output_schema);
  return {
    ...common,
    hasOutputSchema: outputSchema !== undefined,
    definition: {
      name,
      description: definition.description,
      inputSchema: inputSchema as JsonObject,
      ...(outputSchema !== undefined && { outputSchema }),
      ...(definition.idempotent && { annotations: { idempotentHint: true } }),
      ...tool.mcp,
    },
    ...(isAdHoc && { input: WORKFLOW_INPUT }),
    request: (args) => tool.request?.(args) ?? { agent: 'tools', method: definition.name, params: args },
  };
}

function agentTool(name: string, { definition }: Tool): Omit<ListedTool, 'name' | 'kind' | 'isDeferred'> {
  const { name: agent, description, tags } = definition;
  const purpose = description || `Asks the agent ${agent}.`;
  const skills = tags.length === 0 ? '' : `${/[.!?]$/.test(purpose) ? '' : '.'} Skills: ${tags.join(', ')}.`;
  return {
    hasOutputSchema: false,
    input: AGENT_INPUT,
    definition: {
      name,
      description: `${purpose}${skills}`,
      inputSchema: AGENT_INPUT as JsonObject,
      annotations: { openWorldHint: true },
    },
    request: ({ prompt = '', files }) => ({
      agent,
      method: 'chat.send',
      params: { content: prompt, ...(files !== undefined && { files }) },
    }),
  };
}

/** Every revision requires the input of a tool to be an object. */
function objectSchema(schema: JsonObject): JsonObject {
  return schema['type'] === 'object' ? schema : { ...schema, type: 'object' };
}

/** Before 2026-07-28, structured content must be an object. */
function objectOutput(schema: JsonObject | null): JsonObject | undefined {
  return schema?.['type'] === 'object' ? schema : undefined;
}

/** The methods that take a workflow in the request, with the names of their tools. */
const AD_HOC: Readonly<Record<string, string>> = {
  'workflow.execute': 'run_workflow',
  'workflow.validate': 'check_workflow',
};
