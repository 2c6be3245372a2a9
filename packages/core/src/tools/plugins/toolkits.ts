import { type JsonObject, nearest, show } from '@dragoman/protocols';
import { isMessage, type MessageOf, type ToolDefinition, type ToolkitDefinition } from '@dragoman/protocols/a2e-wire';
import type { SessionToolkits } from '../session-toolkits.ts';
import type { ToolRegistry } from '../tool-registry.ts';
import type { Answered, WireCall, WirePlugin } from '../wire/plugin.ts';

export interface ToolkitsPluginOptions {
  readonly tools: ToolRegistry;
  readonly toolkits: SessionToolkits;
}

/**
 * `toolkit/*`: groups of tools. Each MCP server is one, as are the server's agents and its workflows; the tools of the
 * configuration are the group `tools`. A connection can hide a group and show it again, without effect on others.
 */
export function toolkitsPlugin(options: ToolkitsPluginOptions): WirePlugin {
  return {
    name: 'toolkits',
    capability: 'toolkits',
    messages: ['toolkit/list/req', 'toolkit/configure/req'],
    handle(message, call) {
      if (isMessage(message, 'toolkit/configure/req')) return configure(message, call, options);
      return isMessage(message, 'toolkit/list/req') ? list(message, call, options) : undefined;
    },
  };
}

async function list(
  { filter_kind: kind, filter_tags: tags }: MessageOf<'toolkit/list/req'>,
  { session }: WireCall,
  { tools, toolkits }: ToolkitsPluginOptions,
): Promise<Answered> {
  const hidden = toolkits.hiddenFrom(session);
  const groups = groupsOf(await tools.list(session.principal, { deferred: true }));
  const found = [...groups].map(([group, members]) => definitionOf(group, members, !hidden.has(group)));
  const wanted = new Set(tags);
  const fitting = found.filter(
    (toolkit) =>
      (kind === '' || toolkit.category === kind) &&
      (wanted.size === 0 || toolkit.tags.filter((tag) => wanted.has(tag)).length === wanted.size),
  );
  return { toolkits: fitting as unknown as JsonObject[] };
}

async function configure(
  { session_id, toolkit_name, config }: MessageOf<'toolkit/configure/req'>,
  { session }: WireCall,
  { tools, toolkits }: ToolkitsPluginOptions,
): Promise<Answered> {
  const failed = (message: string): Answered => ({ toolkit_name, status: 'error', message });
  if (session_id !== '' && session_id !== session.id) {
    return failed(`session_id must be that of this connection, ${show(session.id)}, or empty`);
  }
  const groups = groupsOf(await tools.list(session.principal, { deferred: true }));
  const group = toolkit_name === OWN_TOOLS ? '' : toolkit_name;
  if (!groups.has(group)) {
    const close = nearest(toolkit_name, [...groups.keys()].map(nameOf));
    const meant = close === undefined ? '' : `; did you mean ${show(close)}?`;
    return failed(`there is no toolkit ${show(toolkit_name.slice(0, 128))}${meant}`);
  }
  const { enabled = true, ...others } = config;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return failed(`config has no member ${show(unknown)}; it has "enabled"`);
  if (typeof enabled !== 'boolean') return failed(`config.enabled must be true or false; got ${show(enabled)}`);
  if (enabled) toolkits.show(session, group);
  else toolkits.hide(session, group);
  return { toolkit_name, status: 'ok', message: null };
}

/** Groups tools by their toolkit, which is empty for those of the configuration. */
function groupsOf(tools: readonly ToolDefinition[]): Map<string, ToolDefinition[]> {
  const groups = new Map<string, ToolDefinition[]>();
  for (const tool of tools) {
    const name = tool.toolkit ?? '';
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [tool]);
    else group.push(tool);
  }
  return groups;
}

function definitionOf(group: string, tools: readonly ToolDefinition[], configured: boolean): ToolkitDefinition {
  const category = categoryOf(group, tools);
  return {
    name: nameOf(group),
    alias: '',
    description: DESCRIPTIONS[category] ?? '',
    category,
    tags: [...new Set(tools.flatMap(({ tags }) => tags))],
    icon_svg: null,
    schema: CONFIG_SCHEMA,
    tools: tools.map(({ name }) => name),
    configured,
    version: '1.0.0',
  };
}

function categoryOf(group: string, tools: readonly ToolDefinition[]): string {
  if (tools.every(({ tags }) => tags.includes('mcp'))) return 'mcp';
  return group === 'agents' || group === 'workflows' ? group : OWN_TOOLS;
}

function nameOf(group: string): string {
  return group === '' ? OWN_TOOLS : group;
}

/** The name of the group of tools without a toolkit. */
const OWN_TOOLS = 'tools';
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  mcp: 'The tools of an MCP server.',
  agents: 'The agents of the server, each as a tool.',
  workflows: 'The workflows of the server, each as a tool.',
  tools: 'The tools of the configuration.',
};
const CONFIG_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    enabled: { type: 'boolean', default: true, description: 'Whether this connection sees the tools of the group.' },
  },
  additionalProperties: false,
};
