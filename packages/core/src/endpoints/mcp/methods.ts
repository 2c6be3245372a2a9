import { failure, type Json, type JsonObject } from '@dragoman/protocols';
import { decodeMcpParams, MCP_CODES, MCP_TASKS, MCP_VERSIONS, type McpParams, mcpError } from '@dragoman/protocols/mcp';
import { Refused, refuse } from '../../refusals/refused.ts';
import type { McpCatalogue } from './catalogue.ts';
import type { McpCompletions } from './completions.ts';
import { listedDefinitions } from './listed-definitions.ts';
import { type McpCall, McpRefused, type McpResultOf } from './mcp-call.ts';
import type { McpNotices } from './notices.ts';
import type { McpPrompts } from './prompts.ts';
import type { McpResources } from './resources.ts';
import type { McpTasks } from './tasks.ts';
import { declares, type ToolCalls } from './tool-calls.ts';

/** The services that answer the methods. */
export interface McpFeatures {
  readonly catalogue: McpCatalogue;
  readonly calls: ToolCalls;
  readonly prompts: McpPrompts;
  readonly resources: McpResources;
  readonly completions: McpCompletions;
  readonly tasks: McpTasks;
  readonly notices: McpNotices;
  readonly maxListedTools: number;
}

export type McpMethod = (features: McpFeatures, params: Json, call: McpCall) => McpResultOf;

/** A method with a schema for its params. */
function method<Name extends keyof McpParams>(
  name: Name,
  run: (features: McpFeatures, params: McpParams[Name], call: McpCall) => McpResultOf,
): McpMethod {
  return (features, given, call) => {
    const params = decodeMcpParams(name, given);
    if (params.ok) return run(features, params.value, call);
    throw new Refused(failure('invalid_message', { issues: params.issues }, params.issues[0]?.message));
  };
}

/** A list in one page: the server returns no cursors, so every cursor is invalid. */
function list<Name extends 'tools/list' | 'prompts/list' | 'resources/list' | 'resources/templates/list'>(
  name: Name,
  member: string,
  all: (features: McpFeatures, call: McpCall) => JsonObject[] | Promise<JsonObject[]>,
): McpMethod {
  return method(name, async (features, { cursor }, call) => {
    if (cursor !== undefined) refuse('invalid_message', {}, 'Invalid cursor: this list has one page.');
    return { [member]: await all(features, call), ...cached(call) };
  });
}

/** How long a list may be cached. It is private, because it depends on the key. */
function cached({ session }: McpCall): JsonObject {
  return session === undefined ? { ttlMs: 60_000, cacheScope: 'private' } : {};
}

const BOTH: Readonly<Record<string, McpMethod>> = {
  'tools/list': list('tools/list', 'tools', async ({ catalogue, maxListedTools }, { principal, agentId }) =>
    listedDefinitions(await catalogue.list(principal, agentId), maxListedTools),
  ),
  'tools/call': method('tools/call', ({ calls }, params, call) => calls.call(params, call)),
  'prompts/list': list('prompts/list', 'prompts', ({ prompts }, call) => prompts.list(call)),
  'prompts/get': method('prompts/get', ({ prompts }, params, call) => prompts.get(params, call)),
  'resources/list': list('resources/list', 'resources', ({ resources }, call) => resources.list(call)),
  'resources/templates/list': list('resources/templates/list', 'resourceTemplates', ({ resources }, call) =>
    resources.templates(call),
  ),
  'resources/read': method('resources/read', async ({ resources }, { uri }, call) => ({
    ...(await resources.read(uri, call)),
    ...(call.session === undefined && { ttlMs: 0, cacheScope: 'private' }),
  })),
  'completion/complete': method('completion/complete', ({ completions }, params, call) =>
    completions.complete(params, call),
  ),
};

/** The methods of the revisions with sessions. */
export const LEGACY_METHODS: Readonly<Record<string, McpMethod>> = { ...BOTH, ping: () => ({}) };

/** The methods of 2026-07-28. */
export const MODERN_METHODS: Readonly<Record<string, McpMethod>> = {
  ...BOTH,
  'server/discover': (_features, _params, call) => ({
    supportedVersions: [...MCP_VERSIONS],
    capabilities: { ...MCP_CAPABILITIES, extensions: { [MCP_TASKS]: {} } },
    instructions: MCP_INSTRUCTIONS,
    ...cached(call),
  }),
  'subscriptions/listen': method('subscriptions/listen', ({ notices }, params, call) => notices.listen(params, call)),
  'tasks/get': method('tasks/get', ({ tasks }, { taskId }, call) => tasks.get(taskId, withTasks(call))),
  'tasks/update': method('tasks/update', ({ tasks }, params, call) => tasks.update(params, withTasks(call))),
  'tasks/cancel': method('tasks/cancel', ({ tasks }, { taskId }, call) => tasks.cancel(taskId, withTasks(call))),
};

/** The extension is for clients that declare it (tasks extension, Capability Negotiation). */
function withTasks(call: McpCall): McpCall {
  if (declares(call, MCP_TASKS)) return call;
  const data = { requiredCapabilities: { extensions: { [MCP_TASKS]: {} } } };
  const message = `Tasks need the client capability extensions["${MCP_TASKS}"]. Declare it in params._meta.`;
  throw new McpRefused(mcpError(MCP_CODES.missing_capability, message, { data, status: 400 }));
}

export const MCP_CAPABILITIES: JsonObject = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: {},
  completions: {},
};
export const MCP_INSTRUCTIONS = [
  'Dragoman hosts agents, tools and workflows.',
  'ask_AGENT asks an agent; pass session_id of its answer as session to continue that conversation.',
  'A result with status "working" continues by itself: call get_answer with its request_id.',
].join(' ');
